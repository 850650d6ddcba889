use super::*;

#[track_caller]
fn inline(source: &str, expected: Result<(), &str>) {
    assert_eq!(read(source).inline, expected, "{source}");
}

#[track_caller]
fn combined(source: &str, expected: Result<(), &str>) {
    assert_eq!(read(source).combine, expected, "{source}");
}

/// `s`, `i`, `j` for what it reads: sheets, images, scripts.
#[track_caller]
fn reads(source: &str, expected: &str) {
    let facts = read(source);
    assert_ne!(facts.inline, Err(SYNTAX), "{source}");
    let found = [
        (facts.reads_sheets || !facts.sheet_names.is_empty(), "s"),
        (facts.reads_images, "i"),
        (facts.reads_scripts, "j"),
    ];
    let found: String = found
        .iter()
        .filter(|(seen, _)| *seen)
        .map(|(_, letter)| *letter)
        .collect();
    assert_eq!(found, expected, "{source}");
}

const DEEP: &str = "it is nested too deeply";
const HTML: &str = "it has an HTML comment";
const SCRIPTS: &str = "it looks up script elements";
const FUNCTION: &str = "it declares a function outside of functions";
const LEXICAL: &str = "it declares let, const or class outside of functions";
const DIRECTIVE: &str = "it begins with a directive such as \"use strict\"";
const WRITES: &str = "it writes to the document";
const SLASH: &str = "it has a slash that can be read in two ways";
const IMPORTS: &str = "it imports modules";
const CURRENT: &str = "it asks for document.currentScript";
const STACK: &str = "it may read its own address from the stack of an error";
const PROMISE: &str = "it uses promises, whose callbacks run between scripts";

#[test]
fn what_may_stand_inline() {
    inline("", Ok(()));
    inline("var a=1;(function(){window.b=a})()", Ok(()));
    inline("'use strict';let a=1", Ok(()));
    inline("a//# sourceMappingURL=a.js.map", Ok(()));
    inline("document.write('<script>')", Ok(()));
    inline("a='<!--'", Ok(()));
    inline("\u{FEFF}a='\u{E9}'", Ok(()));
    inline("a='</script>'", Err("its text holds an end tag of a script"));
    inline("a='<!--<script>'", Err("its text opens a comment and a script"));
    inline("a='\0'", Err("it has a NUL character"));
    inline("#!/bin/sh\na", Err("it begins with a hashbang"));
    inline("<!-- a\nb", Err(HTML));
    inline("a\n--> b", Err(HTML));
    inline("while(a-->0);", Ok(()));
    inline("a b", Err(SYNTAX));
    inline("import a from 'a'", Err(SYNTAX));
    inline("export let a", Err(SYNTAX));
    inline("a(import.meta)", Err(SYNTAX));
    inline("await a", Err(SYNTAX));
    inline("return", Err(SYNTAX));
    inline("import('a')", Err(IMPORTS));
    inline("importScripts('a')", Err("it imports scripts"));
    inline("@a class b{}", Err("it has decorators"));
    inline("document.currentScript.src", Err(CURRENT));
    inline("document['currentScript']", Err(CURRENT));
    inline("var{currentScript:a}=document", Err(CURRENT));
    inline("({currentScript}=document)", Err(CURRENT));
    inline("'currentScript'in document", Err(CURRENT));
    inline("a=new Error().stack.match(/[^/]+\\.js/)", Err(STACK));
    inline("try{a()}catch(e){e.stack.split('.js')}", Err(STACK));
    inline("a=e.stack;b='.json'", Ok(()));
    inline("document.scripts", Err(SCRIPTS));
    inline("document.getElementsByTagName('SCRIPT')", Err(SCRIPTS));
}

/// Errors that the grammar leaves to later: in a combined file one of them silences every part.
#[test]
fn early_errors_are_errors() {
    for source in [
        "for(;;){(...a)=>{break}}",
        "for(;;){([...a])=>{continue}}",
        "a??(b)||c",
        "a??b||c",
        "a||b??c",
        "a&&b??c",
        "a:b:continue a",
        "a:for(;;){(...b)=>{break a}}",
        "a:{continue a}",
        "let a;let a",
        "let a;var a",
        "{let a;var a}",
        "break",
        "break a",
        "a:for(;;){continue b}",
        "/(/",
        "/a/gg",
        "a=1=2",
        "class A{b(){this.#c}}",
        "new.target",
        "super()",
        "'use strict';with(a);",
        "'use strict';010",
        "(function(){'use strict';delete a})",
        "(a,a)=>1",
        "({__proto__:1,__proto__:2})",
        "for(let a of b){var a}",
        "a?.b=1",
        "let let",
        "function*a(){yield=1}",
        "if(1)class A{}",
        "a:a:b",
        "try{}catch(e){let e}",
    ] {
        inline(source, Err(SYNTAX));
        combined(source, Err(SYNTAX));
    }
}

#[test]
fn what_may_share_a_file() {
    combined("", Ok(()));
    combined("var a=1// end", Ok(()));
    combined("(function(){'use strict';let a;function b(){}})()", Ok(()));
    combined("{let a;const b=1;class C{}}", Ok(()));
    combined("for(let i of a);", Ok(()));
    combined("(a??b)||c;a??(b||c);(a&&b)??(c||d);(a??(b))&&c", Ok(()));
    combined("a:for(;;)break a", Ok(()));
    combined(
        "a:b:for(;;){for(;;){continue a}switch(a){case 1:break}}c:{break c}",
        Ok(()),
    );
    combined(
        "do{if(a)break;else continue}while(b);for(c in d)break;for(c of d)continue",
        Ok(()),
    );
    combined("a=function b(){}", Ok(()));
    combined("'use strict'", Err(DIRECTIVE));
    combined("'a';b", Err(DIRECTIVE));
    combined("('a');b", Ok(()));
    combined("let a", Err(LEXICAL));
    combined("const{a}=b", Err(LEXICAL));
    combined("class A{}", Err(LEXICAL));
    combined("function a(){}", Err(FUNCTION));
    combined("if(a){function b(){}}", Err(FUNCTION));
    combined("if(a)function b(){}", Err(FUNCTION));
    combined("a:function b(){}", Err(FUNCTION));
    combined("switch(a){case 1:function b(){}}", Err(FUNCTION));
    combined("document.write('a')", Err(WRITES));
    combined("(function(d){d.write('a')})(document)", Err(WRITES));
    combined("window.document.writeln('a')", Err(WRITES));
    combined("response.write('a')", Ok(()));
    combined("document.scripts", Err(SCRIPTS));
    combined("a='</script>'", Ok(()));
    combined("Promise.resolve().then(a)", Err(PROMISE));
    combined("(async()=>{})()", Err(PROMISE));
    combined("new window.MutationObserver(a)", Err(PROMISE));
    combined("var reportError", Err("it uses the name reportError"));
    combined("window.reportError=a", Err("it uses the name reportError"));
}

#[test]
fn names_of_the_outermost_scope() {
    let check = |source: &str, globals: &[&str], lexical: &[&str]| {
        let facts = read(source);
        assert_eq!(facts.globals, globals, "{source}");
        assert_eq!(facts.lexical, lexical, "{source}");
    };
    check(
        "var b,a;for(var c in d);{var{e,f:[g]}=h}",
        &["a", "b", "c", "e", "g"],
        &[],
    );
    check("let b;const{a}=b;class C{}", &[], &["C", "a", "b"]);
    check("(function(){var a;let b})()", &[], &[]);
    check("function a(){var b}if(c){function d(){}}", &["a", "d"], &[]);
    check("try{}catch(a){var b}", &["b"], &[]);
    check("a=1;window.b=2", &[], &[]);
}

#[test]
fn lookups_of_sheets() {
    reads("document.styleSheets[0]", "s");
    reads("document['styleSheets']", "s");
    reads("$('link')", "s");
    reads("$('a.link, .style')", "");
    reads("!function(e){e('head style').remove()}(jQuery)", "s");
    reads("document.querySelector('link[rel=stylesheet]')", "s");
    reads("document.querySelector('link[rel=\"next\"]')", "");
    reads("document.querySelector('link[rel='+a+']')", "s");
    reads("document.querySelector(`link[href=\"${a}\"]`)", "s");
    reads("var s='link',l=document.querySelectorAll(s)", "s");
    reads("var o={SHEETS:'head link'}", "s");
    reads("var o={text:'Insert link',style:'link'}", "");
    reads("if(l.rel=='stylesheet')a()", "s");
    reads("var l=document.createElement('link');l.rel='stylesheet'", "");
    reads("a='theme.css'", "s");
    reads("/\\.css$/.test(a)", "s");
    reads("$(a).css('b');'.css-c';'jQuery.css(a)'", "");
    // A library tries out an element of its own.
    reads(
        "var d=document.createElement('div');d.innerHTML='<link>';d.getElementsByTagName('link')",
        "",
    );
    reads(
        "function make(t){return document.createElement(t)}make('style')",
        "",
    );
    reads(
        "function all(t){return document.querySelectorAll(t)}all('style')",
        "s",
    );
    reads("a.style.color='b';a.getAttribute('style')", "");
    reads("document.querySelectorAll('[media*=\"dark\"]')", "s");
    reads("document.querySelector('[rel=\"stylesheet\"]')", "s");
    reads("document.querySelector('[href$=\".css\"]')", "s");
    reads("$('[rel=tooltip]'),$('[href=\"#a\"]'),$('a[href],.b[rel]')", "");
    reads("$(a+'[href=\"'+b+'\"]')", "");
    reads("document.querySelectorAll('[href]')", "s");
    // In a part of the page there are no sheets.
    reads("a.find('[href]', this.config.target)", "");
    reads("a.find('[href]')", "s");
    reads("a.find('[href]', b.document)", "s");
    reads("a.find('[href]', root)", "s");
    reads("(function(){const A='[href]';b.find(A,this.c.d)})()", "");
    reads(
        "(function(){const A='[href]';b.find(A,this.c.d);b.find(A)})()",
        "s",
    );
    reads("(function(){let A='[href]';A=A+'';b.find(A,this.c.d)})()", "s");
    reads("(function(){const A='[href]';b.find(A,t)})()", "s");
    let bootstrap =
        "(function(){const N='bs.scrollspy',A='[href]';a.on(this.c,'click',A,d);b.find(`${A}.b`,t)";
    reads(&format!("{bootstrap}}})()"), "");
    reads(&format!("{bootstrap};b.find(A,document)}})()"), "s");
    reads(&format!("{bootstrap};b.find('[href]')}})()"), "s");
    reads("const A='[href]';b.find(A,this.c.d)", "s");
    reads("document.head.lastElementChild.disabled=true", "s");
    reads("document.head.children[2].disabled=true", "s");
    reads("document.head.insertBefore(a,document.head.firstChild)", "");
}

#[test]
fn lookups_of_images() {
    reads("document.images", "i");
    reads("(function(d){d.images})(document)", "i");
    reads("options.images", "");
    // To find one is not to look where it comes from.
    reads("$('img')", "");
    reads("$('.a').find('p > img.b')", "");
    reads("c.drawImage($('img')[0],0,0)", "i");
    reads("$('.img, #img')", "");
    reads("$('<img>')", "");
    reads("$('[src$=png]')", "i");
    reads("var o={ITEM:'.item img'}", "");
    // A script stands there too, perhaps.
    reads("var o={ITEM:'.item [src]'}", "ij");
    reads("document.querySelectorAll('[src*=\"/js/\"]')", "ij");
    reads("document.querySelectorAll('img[src*=\"/js/\"]')", "i");
    reads("var el=a.b;c(el.src)", "i");
    reads("const {src}=a", "i");
    reads("a.createPattern(b,'repeat')", "i");
    reads("createImageBitmap(a)", "i");
    reads("this.attachShadow({mode:'open'})", "i");
    // Whether there are shadow trees is all that Bootstrap wants to know.
    reads("if(!document.documentElement.attachShadow)a()", "");
    reads(
        "b=a.attachShadow?1:0;typeof a.attachShadow;if(c&&a.attachShadow)d()",
        "",
    );
    reads("a.attachShadow&&a.attachShadow({mode:'open'})", "i");
    reads("b=c&&a.attachShadow", "i");
    reads("a.importNode(b)", "i");
    reads("a.innerHTML.match(/src=\"(.*?)\"/)", "i");
    reads("img.className='b'", "i");
    reads("img.className+=' b'", "i");
    reads("menu.className='b'", "");
    reads("el.className='i'", "");
    reads(
        "o.plus_img=document.createElement('img');o.plus_img.src='a.png';o.plus_img.className='b'",
        "",
    );
    reads(
        "o.plus_img=document.createElement('img');o.plus_img=b;o.plus_img.src='a.png'",
        "i",
    );
    reads("o={plus_img:b};o.plus_img.src='a.png'", "i");
    reads("this.img=new Image;b.img.src='a.png'", "i");
    reads("var img=new Image;img.className='b'", "");
    reads("var i=new Image;i.src='a.png'", "");
    reads("(new Image).src='a.png'", "");
    reads("var i;i=document.createElement('img');i.src='a.png'", "");
    reads("var i=new Image;i=b;i.src='a.png'", "i");
    reads("var i=new Image;i.src='a.png';i=null", "");
    reads("a.appendChild(document.createElement('script')).src='b'", "");
    reads("a.appendChild(b).src='b'", "i");
    reads("for(var i of a)i.src='a.png'", "i");
    reads("document.getElementById('a').src='a.png'", "i");
    reads("a.src='b'", "i");
    reads("a['src']='b'", "i");
    reads("a.setAttribute('src',b)", "i");
    reads("$(a).attr('src')", "i");
    reads("$(a).prop({src:b})", "i");
    reads("$('<script>').attr(a).prop({src:b})", "");
    reads("a.onclick=function(){b(this.src)}", "i");
    reads("html.replace(/<img [^>]*src=/,a)", "i");
    reads("a.nodeName=='img'", "");
}

#[test]
fn lookups_of_scripts() {
    // They are told where a script failed.
    reads("window.onerror=function(message,file,line){}", "j");
    reads("onerror=f", "j");
    reads("window.addEventListener('error',f)", "j");
    reads("addEventListener('error',f)", "j");
    reads(
        "image.onerror=f;image.addEventListener('error',f);window.addEventListener('load',f)",
        "",
    );
    reads("document.scripts", "j");
    reads("document.getElementsByTagName('script')[0].parentNode", "j");
    reads("document.querySelector('script[src*=\"a\"]')", "j");
    reads("document.querySelectorAll(`script[data-a=\"${b}\"]`)", "j");
    reads("$('body > script:last')", "j");
    reads("$('#script, .script')", "");
    reads("document.createElement('script')", "");
    reads("a.type='text/javascript'", "");
    reads(
        "function all(e,t){return e.getElementsByTagName(t)}all(a,'script')",
        "",
    );
}

#[test]
fn a_part_ends_where_its_block_ends() {
    assert_eq!(combine(&[]), "");
    let out = combine(&["a//b", "(c)"]);
    assert_eq!(out.matches("\n}catch(e){").count(), 2);
    assert_eq!(read(&out).combine, Err("it uses the name reportError"));
}

/// What is too deep is refused before the parser sees it; what is not fits the stack.
#[test]
fn depth_is_bounded() {
    let nest = |open: &str, middle: &str, close: &str, n: usize| open.repeat(n) + middle + &close.repeat(n);
    crate::parallel::with_threads(1, || {
        for (open, middle, close) in [
            ("(", "a", ")"),
            ("[", "", "]"),
            ("{", "", "}"),
            ("a(", "", ")"),
            ("`${", "a", "}`"),
            ("(()=>", "a", ")"),
            ("!", "a", ""),
            ("a=", "a", ""),
            ("a=>", "a", ""),
            ("a?b:", "a", ""),
            ("if(a)", "b", ""),
            ("a:", "b", ""),
            ("new ", "a", ""),
            ("a+", "a", ""),
            ("", "a", ".a"),
            ("", "a", "[0]"),
            ("", "a", "``"),
            ("if(a)b;else ", "b", ""),
            ("do ", "a", ";while(b)"),
            ("if(a){}else ", "b", ""),
            ("(a,", "b", ")"),
            ("class extends ", "a", "{}"),
            // Brackets in texts do not count, in either direction.
            ("(\")))\"+", "a", ")"),
            ("(/)))/+", "a", ")"),
            ("(/[)]/+", "a", ")"),
            ("(/*)*/", "a", ")"),
            ("(`)`+", "a", ")"),
            // A comma ends expressions, not the statements around them.
            ("if(a)b,function(){", "", "}"),
        ] {
            let text = nest(open, middle, close, 100_000);
            assert_eq!(read(&text).inline, Err(DEEP), "{open}");
            for n in [100, 190, 1000, 3900] {
                read(&nest(open, middle, close, n));
            }
        }
        // Long is not deep.
        for text in [
            "a;",
            "a\n",
            "function(){}\n",
            "a={b:[c]},",
            "if(a){b}\n",
            "x=a?b:c;",
            "switch(a){case 1:b}",
            "!function(){}();",
        ] {
            assert_eq!(nesting::check(&text.repeat(20_000)), Ok(()), "{text}");
        }
    })
    .unwrap();
}

#[test]
fn a_doubtful_slash_is_refused() {
    let check = |source: &str, expected| assert_eq!(nesting::check(source), expected, "{source}");
    check("a/b/c", Ok(()));
    check("(a)/')'/b", Ok(()));
    check("if(a)/'/.test(b)", Ok(()));
    check("a.if(b)/c/d", Ok(()));
    check("return/'/", Ok(()));
    check("a={}\n/'/", Err(SLASH));
    check("a++/b", Err(SLASH));
    check("yield/b", Err(SLASH));
    check("a=/[/']/", Ok(()));
    check("`${`'`}'`", Ok(()));
    check("a='b\nc'", Err("it leaves a string open"));
    check("a='b\\\r\nc'", Ok(()));
    check("(]", Err("its brackets do not match"));
    check("(", Err("it leaves a bracket open"));
    check(")", Err("its brackets do not match"));
    check("/*", Err("it leaves a comment open"));
    check("a\\u0062", Err("it has an escaped name"));
}

/// The first script as the place for a new one: its element stays whatever becomes of it.
#[test]
fn a_script_as_a_place_is_not_looked_up() {
    let place = "a=document.getElementsByTagName('script')[0]";
    let uses = |rest: &str| format!("(function(){{var {place};{rest}}})()");
    let insert = "a.parentNode.insertBefore(b,a)";
    reads(&uses(insert), "");
    reads(&uses(&format!("if(a){{}}{insert}")), "j");
    reads(&uses(&format!("{insert};a=b")), "j");
    reads(&uses(&format!("{insert};a.src")), "j");
    reads(&uses("b(a)"), "j");
    reads(&uses("b.insertBefore(a,b)"), "j");
    reads(&uses("a.parentNode.removeChild(a)"), "j");
    reads(&uses("a.parentNode.insertBefore"), "j");
    reads(&uses("a.nextSibling.insertBefore(b,a)"), "j");
    reads(&format!("(function(){{var a;{place};{insert}}})()"), "");
    reads(&format!("(function(){{var a;b={place};{insert}}})()"), "j");
    reads(&format!("var {place};{insert}"), "j");
    reads(
        "document.getElementsByTagName('script')[0].parentNode.insertBefore(a,null)",
        "",
    );
    reads(
        "a.parentNode.insertBefore(b,document.getElementsByTagName('script')[0])",
        "",
    );
    reads(
        "(function(){var a=document.getElementsByTagName('script')[1];a.parentNode.insertBefore(b,a)})()",
        "j",
    );
    reads(
        "(function(){var a=document.querySelector('script');a.parentNode.insertBefore(b,a)})()",
        "j",
    );
}

#[test]
fn names_from_outside() {
    let check = |source: &str, name: &str, expected: bool| {
        let known = read(source).outer.contains(&crate::graph::hash(name.as_bytes()));
        assert_eq!(known, expected, "{source} {name}");
    };
    check("a()", "a", true);
    check("typeof a", "a", true);
    check("window.a", "a", true);
    check("window['a']", "a", true);
    check("'a'in window", "a", true);
    check("var{a:b}=window", "a", true);
    check("a=1", "a", true);
    check("var a;a()", "a", false);
    check("(function(a){a()})()", "a", false);
    check("({a:1})", "a", false);
}

/// What is written into a frame does not go into the page.
#[test]
fn who_writes_into_a_frame_may_share_a_file() {
    let frame = "a=(b[0].contentWindow||b[0].contentDocument).document";
    combined(
        &format!("(function(){{var a=document;c(),{frame},a.write('d')}})()"),
        Ok(()),
    );
    combined(
        &format!("(function(a){{{frame};a.write('d');a.close()}})()"),
        Ok(()),
    );
    combined(&format!("if(e){{{frame};a.write('d')}}"), Ok(()));
    combined(
        &format!("(function(a){{{frame};c();a.write('d')}})()"),
        Err(WRITES),
    );
    combined(
        &format!("(function(a){{if(c){frame};a.write('d')}})()"),
        Err(WRITES),
    );
    combined(&format!("(function(a,e){{{frame};e.write('d')}})()"), Err(WRITES));
    combined(
        "(function(a){a=(b.contentWindow||window).document;a.write('d')})()",
        Err(WRITES),
    );
    combined(&format!("(function(a){{{frame},a.writeln('d')}})()"), Err(WRITES));
}

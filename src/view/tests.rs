//! Small pages and what Chromium 156 requested for them, each tried in the browser; and hostile input.

use std::collections::BTreeSet;

use super::*;

/// Sheets by address, with everything else left to the page.
struct Sheets(Vec<(::url::Url, Sheet)>);

impl Library for Sheets {
    fn find(&self, from: Option<u32>, raw: &str) -> Option<(u32, &Sheet)> {
        let base = match from {
            Some(key) => self.0[key as usize].0.clone(),
            None => root(),
        };
        let url = base.join(raw).ok()?;
        let index = self.0.iter().position(|(u, _)| *u == url)?;
        Some((index as u32, &self.0[index].1))
    }
}

fn root() -> ::url::Url {
    ::url::Url::parse("http://h/").unwrap()
}

fn open(page: &str, files: &[(&str, &str)]) -> (Vec<Request>, Sheets) {
    let sheets = Sheets(
        files
            .iter()
            .map(|(name, css)| (root().join(name).unwrap(), compile(css)))
            .collect(),
    );
    let document = parse(page.as_bytes(), encoding_rs::UTF_8);
    (
        requests(
            &document,
            &sheets,
            Window {
                width: 1280,
                height: 900,
            },
        ),
        sheets,
    )
}

fn paths(page: &str, files: &[(&str, &str)]) -> String {
    let (requests, sheets) = open(page, files);
    let paths: BTreeSet<String> = requests
        .iter()
        .map(|r| {
            let base = match r.base.as_ref().unwrap_or(&r.from) {
                From::Sheet { key, .. } => sheets.0[*key as usize].0.clone(),
                _ => root(),
            };
            let url = base.join(&r.raw).unwrap();
            url.path()[1..].to_owned()
        })
        .collect();
    paths.into_iter().collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn check_with(page: &str, files: &[(&str, &str)], expected: &str) {
    assert_eq!(paths(&format!("<!doctype html>{page}"), files), expected);
}

#[track_caller]
fn check(page: &str, expected: &str) {
    check_with(page, &[], expected);
}

/// A sheet over elements `a` to `z` by id.
#[track_caller]
fn check_css(css: &str, expected: &str) {
    let body: String = ('a'..='z')
        .map(|c| format!("<div id={c} class=k><i>x</i></div>"))
        .collect();
    check(&format!("<style>{css}</style>{body}"), expected);
}

#[test]
fn linked_sheets() {
    check(
        "<link rel=stylesheet href=a.css><link rel='alternate stylesheet' href=b.css><link rel='alternate stylesheet' \
         title=B href=c.css><link rel=stylesheet title=P href=d.css><link rel=stylesheet disabled href=e.css><link \
         rel=stylesheet media=print href=f.css><link rel=stylesheet type=text/less href=g.css><link rel=stylesheet \
         type='' href=h.css><link rel=STYLESHEET type='TEXT/CSS; charset=x' href=i.css><link rel=stylesheet href=''>",
        "a.css b.css c.css d.css f.css h.css i.css",
    );
    // Only what applies paints, but everything imports.
    check_with(
        "<link rel=stylesheet href=a.css><link rel='alternate stylesheet' title=B href=alt.css><link rel=stylesheet \
         title=P href=pref.css><link rel=stylesheet title=Q href=pref2.css><link rel=stylesheet media=print \
         href=print.css><p>x",
        &[
            ("a.css", "p{background:url(a.png)}"),
            ("alt.css", "@import 'alti.css';p{cursor:url(alt.png),auto}"),
            ("pref.css", "p{list-style-image:url(pref.png)}"),
            ("pref2.css", "@import 'pref2i.css';p{mask-image:url(pref2.png)}"),
            ("print.css", "@import 'printi.css';p{border-image:url(print.png)}"),
        ],
        "a.css a.png alt.css alti.css pref.css pref.png pref2.css pref2i.css print.css printi.css",
    );
    check_with(
        "<meta http-equiv=default-style content=B><link rel=stylesheet href=a.css title=A><link rel='alternate \
         stylesheet' href=b.css title=B><p>x",
        &[
            ("a.css", "p{background:url(a.png)}"),
            ("b.css", "p{border-image:url(b.png)}"),
        ],
        "a.css b.css b.png",
    );
}

#[test]
fn imports() {
    check(
        "<style>@import 'a.css' print;@import url(b.css) supports(display:grid);@import url(c.css) \
         supports(display:nope);@import 'd.css' layer(x);@import 'e.css' layer;@import 'f.css' (max-width:10px);\
         p{} @import 'late.css';</style>",
        "a.css b.css d.css e.css f.css",
    );
    check(
        "<style>@layer a;@import 'a.css';@namespace url(n.css);@import 'b.css';</style>",
        "a.css",
    );
    check(
        "<style>@foo x;@import 'a.css';</style><style>!!;@import 'b.css';</style>",
        "a.css",
    );
    check(
        "<style>@layer a{}@import 'a.css';</style><style>@media print{}@import 'b.css'</style>",
        "",
    );
    check(
        "<style><!-- @import 'a.css'; --></style><style>@IMPORT URL(\"b.css\")</style>",
        "a.css b.css",
    );
    check_with(
        "<link rel=stylesheet href=a.css><p>x",
        &[
            (
                "a.css",
                "@import 'a.css';@import 'b.css';p{background:url(a.png)}",
            ),
            ("b.css", "@import 'a.css';@import 'c.css';"),
            ("c.css", "p{border-image:url(c.png)}"),
        ],
        "a.css a.png b.css c.css c.png",
    );
    // An import comes before the rules of its sheet.
    check_with(
        "<link rel=stylesheet href=a.css><p>x",
        &[
            ("a.css", "@import 'b.css';p{border-image:url(a.png)}"),
            ("b.css", "p{background:url(b.png);border-image:url(b2.png)}"),
        ],
        "a.css a.png b.css b.png",
    );
    check_with(
        "<style>@layer b,a;@import 'x.css' layer(a);@import 'y.css' layer(b);</style><p>x",
        &[
            ("x.css", "p{background:url(x.png)}"),
            ("y.css", "p{background:url(y.png)}"),
        ],
        "x.css x.png y.css",
    );
}

#[test]
fn without_a_box() {
    check(
        "<style>.a{display:none;background:url(a.png)}.b{display:none}.b p{background:url(b.png)}.c{visibility:hidden;\
         background:url(c.png)}.d{width:0;height:0;background:url(d.png)}.e{display:contents;background:url(e.png)}\
         .e p{background:url(f.png)}</style><div class=a></div><div class=b><p>x</div><div class=c></div><div \
         class=d></div><div class=e><p>x</div>",
        "c.png d.png e.png f.png",
    );
    check(
        "<style>head,title,script,template,noscript,[hidden],dialog,datalist,area,audio,rp{background:url(no.png)}\
         details p{background:url(det.png)}summary{background:url(sum.png)}option{background:url(opt.png)}\
         source{background:url(src.png)}col{background:url(col.png)}wbr{background:url(wbr.png)}</style><title>t\
         </title><script></script><template></template><noscript>x</noscript><p hidden>x</p><dialog>d</dialog>\
         <details><summary>s</summary><p>x</details><select><option>a</select><map><area></map><picture><source>\
         </picture><datalist></datalist><ruby>a<rp>(</ruby><audio></audio>b<wbr>c<table><col><tr><td>x</table>",
        "col.png opt.png src.png sum.png wbr.png",
    );
}

#[test]
fn skipped_content() {
    check(
        "<style>.e{content-visibility:hidden;background:url(self.png)}.e p{background:url(e.png)}</style><div class=e><p>x</p>\
         <img src=i.png loading=lazy></div>",
        "self.png",
    );
    check(
        "<style>p{background:url(p.png)}</style><object data=x.svg><p>x</p></object><video><p>x</p></video>",
        "x.svg",
    );
    check(
        "<style>object p{background:url(p.png)}</style><object><p>x</p></object>",
        "p.png",
    );
}

#[test]
fn pseudo_elements() {
    check(
        "<style>.a::before{background:url(a.png)}.b:before{content:\"\";background:url(b.png)}.c::before{content:none;\
         background:url(c.png)}.d::before{content:url(d.png)}.f::first-line{background:url(fl.png)}.f::first-letter\
         {background:url(flet.png)}.f::selection{background:url(sel.png)}input::placeholder{background:url(ph.png)}\
         li::marker{content:url(mark.png)}p::marker{content:url(pmark.png)}dialog::backdrop{background:url(bd.png)}\
         .i::before{content:\"\";display:none;background:url(i.png)}img::before{content:\"\";background:url(img.png)}\
         </style><div class=a>x</div><div class=b></div><div class=c></div><div class=d></div><div class=f>fff</div>\
         <input placeholder=x><ul><li>a</ul><p>p</p><dialog>d</dialog><i class=i></i><img>",
        "b.png c.png d.png fl.png flet.png img.png mark.png ph.png",
    );
    // An unknown pseudo-element takes its whole rule along, one of WebKit does not.
    check(
        "<style>p::-moz-foo,p{background:url(moz.png)}b::-webkit-foo,b{background:url(wk.png)}i:-moz-x,i{background:\
         url(c.png)}u:is(:-moz-x,u){background:url(is.png)}s:not(:bogus){background:url(not.png)}</style>\
         <p>x<b>b</b><i>i</i><u>u</u><s>s</s>",
        "is.png wk.png",
    );
}

#[test]
fn properties() {
    let page = |css: &str| format!("<style>{css}</style><svg><rect id=s /><path id=t /></svg>");
    check(
        &page("#s{fill:url(fill.svg#x)}#t{marker:url(marker.svg#x)}#t{offset-path:url(off.svg#x)}"),
        "fill.svg marker.svg",
    );
    check_css(
        "#a{background:url(1.png),url(2.png)}#b{list-style:url(ls.png)}#c{border-image:url(bi.png) 1}#d{mask:url(m.svg#x)}\
         #e{-webkit-mask-box-image:url(wm.png)}#f{cursor:url(cur.png),auto}#g{filter:url(f.svg#x)}#h{clip-path:\
         url(clip.svg#x)}#i{shape-outside:url(sh.png)}#j{content:url(c.png)}#k{background:-webkit-cross-fade(url(x1.png),\
         url(x2.png),50%)}#l{background:cross-fade(url(y1.png),url(y2.png),50%)}#m{background:src('z.png')}#n{background:\
         image('y.png')}#o{-webkit-box-reflect:below 0 url(r.png)}#p{filter:url(#local)}#q{background:url()}",
        "1.png 2.png bi.png c.png clip.svg cur.png f.svg ls.png m.svg r.png sh.png wm.png x1.png x2.png",
    );
    check_css(
        "#a{background:image-set(url(a1.png) 1x,url(a2.png) 2x)}#b{background:-webkit-image-set(\"b2.png\" 2x,\"b1.png\" 1x)}\
         #c{background:image-set(\"c.xyz\" type(\"image/xyz\"),\"c.avif\" type(\"image/avif\"))}#d{background:image-set(\
         \"d3.png\" 3x,\"d2.png\" 2x)}#e{background:image-set(\"e05.png\" .5x,\"e2.png\" 2x)}#f{background:image-set(\
         \"f1.png\" 96dpi,\"f2.png\" 192dpi)}#g{background:image-set(\"g1.png\" 1x,\"g2.png\" 1x)}#h{background:image-set(\
         url(h.png) 1y)}",
        "a1.png b1.png c.avif d2.png e2.png f1.png g1.png",
    );
}

#[test]
fn declarations_that_are_dropped() {
    check_css(
        "#a{background:url(a.png);background:url(a2.png)\\9}#b{background:url(b.png);*background:url(b2.png)}\
         #d{background:url(d.png);background:url(d2.png) no-repeat 0 50}#e{background:url(e.png);background:\
         -moz-linear-gradient(red,blue)}#f{background:url(f.png);background:-webkit-linear-gradient(red,blue)}\
         #i{background:url(i.png)!ie}#j{background:url(j.png)!important;background:none}#l{background:url(l a.png)}\
         #m{background:URL(m.png)}#n{background:url(n.png) center / cover no-repeat,red}#o{background:red url(o.png),blue}\
         #p{background:url(p.png) top left right}#q{background:url(q.png) 0 0 0 0}#r{background-image:url(r.png),}\
         #u{background:url(u.png) Repeat-X LEFT Top #FFF}#w{background:url(w.png) left 10px top 5px}#y{background:#12345 \
         url(y.png)}",
        "a.png b.png d.png e.png j.png m.png n.png u.png w.png",
    );
    check_css(
        "#a{background-image:url(a.png) no-repeat}#b{list-style:square url(b.png) inside}#d{list-style-image:url(d.png) \
         inside}#e{border-image:url(e.png) 30 round}#f{border-image:url(f.png) 30px round}#j{background:url(j.png);\
         background-image:initial}#k{background:none;background-image:url(k.png)}#m{background-image:url(m.png);\
         background:#fff}#p{content:url(p.png) / 'alt'}#s{background:url(s.png)no-repeat}#v{background:none url(v.png)}\
         #w{background:url(w.png) url(w2.png)}#x{background:url(x.png),url(x2.png) red}#z{background:url(z.png) no-repeat \
         no-repeat no-repeat}",
        "b.png e.png k.png p.png s.png x.png x2.png",
    );
    check_css(
        "#a{cursor:url(a.cur)}#b{cursor:url(b.cur) 2 2,pointer}#c{cursor:url(c.png) 2,auto}",
        "b.cur",
    );
}

#[test]
fn the_cascade() {
    check_css(
        "#a{background:url(lost.png)}#a{background:url(won.png)}#b{background:url(lost2.png)}div#b{background:none}\
         #c{background-image:url(c.png)!important}#c{background:red}#d{background:url(d.png)}#d{background-color:red}\
         #e{background:url(e.png);all:unset}#f{background:inherit}",
        "c.png d.png won.png",
    );
    check(
        "<style>p{background:url(a.png)!important}</style><p style='background:url(b.png)'>x<b \
         style='background:url(c.png);background:url(d.png)'>x</b>",
        "a.png d.png",
    );
    check_css(
        "@layer l1,l2;@layer l2{#i{background:url(i2.png)}}@layer l1{#i{background:url(i1.png)}}@layer l1{#j{background:\
         url(j1.png)!important}}@layer l2{#j{background:url(j2.png)!important}}#k{background:url(k.png)}@layer \
         l3{div#k.k{background:url(k4.png)}}@layer q{@layer r{#l{background:url(l1.png)}}#l{background:url(l2.png)}}\
         #m{background:url(m.png)}@layer z{#m{background:url(mz.png)!important}}",
        "i2.png j1.png k.png l2.png mz.png",
    );
    check(
        "<style>#i p{background:url(1.png)}p.c.d{background:url(2.png)}:is(#i,p) p{background:url(3.png)}:where(#i) \
         p{background:url(4.png)}</style><div id=i><p class='c d'>x</div>",
        "3.png",
    );
    check(
        "<table background=a.png><tr><td background=b.png style='background:none'></table>",
        "a.png",
    );
}

#[test]
fn nested_and_conditional_rules() {
    check_css(
        "#a{color:red;&.k{background:url(a.png)}}#c{>i{background:url(c.png)}}#d{@media screen{background:url(d.png)}}\
         #e{background:url(e.png);&{background:url(e2.png)}}#f{i{background:url(f.png)}background:url(f2.png)}\
         #g{&:hover{background:url(g.png)}}#h{color:red;i:hover,i{background:url(h.png)}}@scope (#n){i{background:\
         url(n.png)}:scope{background:url(n2.png)}}@container (min-width:1px){#q{background:url(q.png)}}#r{@supports \
         (display:grid){background:url(r.png)}}#s{@layer z{background:url(s.png)}}",
        "a.png c.png d.png e2.png f.png f2.png h.png n.png n2.png r.png s.png",
    );
    check_css(
        "body{container-type:inline-size}@container (min-width:1px){#q{background:url(q.png)}}@container (min-width:\
         5000px){#q{background:url(q5.png)}}",
        "q.png",
    );
    check_css(
        "@keyframes k{from{background-image:url(from.png)}}@keyframes u{from{background-image:url(u.png)}}#a{animation:k \
         1s}@page{background:url(page.png)}@media print{#b{background:url(print.png)}}@supports not (display:grid){#c{\
         background:url(no.png)}}",
        "from.png",
    );
}

#[test]
fn variables() {
    check_css(
        "#a{--u:url(a.png);background:var(--u)}#b{background:var(--zz,url(b.png))}#c{background-image:url(c.png);\
         background:var(--nope)}:root{--r:url(r.png) no-repeat;--loop:var(--loop2);--loop2:var(--loop)}#d{background:\
         var(--r)}#e{background:var(--loop)}@property --p{syntax:'<image>';inherits:false;initial-value:url(p.png)}\
         #f{background:var(--p)}",
        "a.png b.png p.png r.png",
    );
    // Relative to the sheet that uses the variable, numbered where it is written.
    let files = [
        ("t/a.css", "b{background:url(n.png)}:root{--v:url(a.png)}"),
        ("u/b.css", "#b{background:var(--v)}"),
    ];
    let page = "<!doctype html><link rel=stylesheet href=t/a.css><link rel=stylesheet href=u/b.css><p id=b>x";
    check_with(&page[15..], &files, "t/a.css u/a.png u/b.css");
    let (requests, _) = open(page, &files);
    let image = requests.iter().find(|r| r.kind == Kind::Image).unwrap();
    assert_eq!(image.from, From::Sheet { key: 0, nth: 1 });
    assert!(matches!(image.base, Some(From::Sheet { key: 1, .. })));
}

#[test]
fn states() {
    check(
        "<style>a:hover,b:focus,:target,a:active,input:autofill{background:url(no.png)}a:link{background:url(link.png)}\
         input:disabled{background:url(dis.png)}b:not(:hover){background:url(nh.png)}input:invalid{background:url(inv.png)}\
         input:read-only{cursor:url(ro.png),auto}p:lang(en){background:url(lang.png)}x-y:not(:defined){background:\
         url(undef.png)}details:open{background:url(open.png)}select:has(option){background:url(has.png)}</style><a \
         href=x>x</a><b>x</b><input type=checkbox checked disabled><input required><select><option>x</select><p \
         lang=en-GB>x</p><x-y></x-y><details open>x</details>",
        "dis.png has.png inv.png lang.png link.png nh.png open.png ro.png undef.png",
    );
}

#[test]
fn quirks_and_case() {
    let css = "<style>.FOO{background:url(a.png)}#BAR{background:url(b.png)}DIV.c{background:url(c.png)}[class=D]\
               {background:url(d.png)}[type=TEXT]{background:url(t.png)}</style><div class=foo></div><div id=bar></div>\
               <div class=c></div><div class=d></div><input type=text>";
    assert_eq!(paths(css, &[]), "a.png b.png c.png t.png");
    check(css, "c.png t.png");
}

#[test]
fn scripts() {
    check(
        "<script src=a.js></script><script async src=b.js></script><script nomodule src=c.js></script><script type=module \
         src=d.js></script><script type=text/plain src=e.js></script><script language=vbscript src=f.js></script><script \
         type='' src=g.js></script><script type='text/javascript;x' src=h.js></script><script type=importmap src=i.js>\
         </script><svg><script href=j.js></script></svg><script type=Application/X-JavaScript src=k.js></script>",
        "a.js b.js d.js g.js j.js k.js",
    );
}

#[test]
fn media() {
    check(
        "<video src=a.mp4></video><video src=b.mp4 preload=none poster=b.png></video><audio src=c.mp3></audio><video><source \
         src=d.xyz type=video/xyz><source src=e.mp4 media=print><source src=f.mp4></video><video autoplay src=g.mp4 \
         preload=none></video><video controls><track src=t.vtt><track default src=td.vtt></video><video \
         style=display:none src=h.mp4 poster=h.png></video>",
        "a.mp4 b.png c.mp3 f.mp4 g.mp4 h.mp4 h.png td.vtt",
    );
}

#[test]
fn links() {
    check(
        "<link rel=preload as=style href=a.css><link rel=preload as=image href=b.png><link rel=preload href=c.png><link \
         rel=preload as=FONT href=d.woff2 crossorigin><link rel=preload as=image media=print href=f.png><link rel=preload \
         as=image type=image/xyz href=g.png><link rel=modulepreload href=h.js><link rel=prefetch href=i.html><link \
         rel=dns-prefetch href=//x><link rel=next href=n.html><link rel=prerender href=o.html><link rel=preload as=video \
         href=q.mp4><link rel=preload as=track href=r.vtt><link rel=preload as=image imagesrcset='t1.png 1x,t2.png 2x'>\
         <link rel=prefetch media=print href=v.png><link rel=canonical href=x.html><meta property=og:image content=og.png>",
        "a.css b.png d.woff2 h.js i.html r.vtt t1.png v.png",
    );
}

#[test]
fn frames_and_objects() {
    check(
        "<iframe src=a.html></iframe><iframe src=c.html style=display:none></iframe><object data=d.png></object><object \
         data=m.html style=display:none></object><embed src=f.svg><object data=k.swf><img src=k.png></object><iframe \
         srcdoc='<img src=l.png><link rel=stylesheet href=l.css>'></iframe><iframe src=about:blank></iframe><object \
         hidden data=y.png></object><embed hidden src=t.png><object data=g.html><embed src=h.html></object>",
        "a.html c.html d.png f.svg g.html k.png l.css l.png t.png",
    );
    check(
        "<frameset cols='*,*'><frame src=a.html><noframes><img src=c.png></noframes></frameset>",
        "a.html",
    );
}

#[test]
fn images() {
    check(
        "<img src=a.png style=display:none><img src=b.png loading=lazy><img src=c.png loading=lazy style=display:none><div \
         hidden><img src=d.png loading=lazy><img src=e.png></div><picture><source srcset=f.png media=print><source \
         srcset=g.avif type=image/avif><img src=h.png></picture><picture><source srcset=i.xyz type=image/xyz><source \
         srcset='j.png, j2.png 2x'><img src=k.png></picture><picture><img src=v.png><source srcset=w.png></picture><img \
         srcset='x1.png 100w,x2.png 500w' sizes=auto loading=lazy width=90><img src=' q.png '><img src=''><input type=IMAGE \
         src=y.png><template><img src=no.png></template><noscript><img src=no.png></noscript><xmp><img src=no.png></xmp>",
        "a.png b.png e.png g.avif j.png q.png v.png x1.png y.png",
    );
    check(
        "<svg><image href=a.png /><image xlink:href=b.png /><use href='c.svg#x'/><use href='#x'/><feImage href=d.png />\
         <defs><image href=e.png /></defs><g display=none><image href=f.png /></g><image href=g1.png xlink:href=g2.png />\
         <rect fill='url(h.svg#x)'/><linearGradient href='no.svg#x'/></svg><image src=i.png><body background=j.png>",
        "a.png b.png c.svg d.png e.png f.png g1.png h.svg i.png j.png",
    );
}

#[test]
fn fonts() {
    let page = |family: &str, body: &str| {
        format!(
            "<style>@font-face{{font-family:X;src:url(x.woff2)}}@font-face{{font-family:Y;src:url(y.woff2)}}@font-face{{\
             font-family:U;src:url(lat.woff2);unicode-range:U+0-FF}}@font-face{{font-family:U;src:url(cyr.woff2);\
             unicode-range:U+400-4FF}}@font-face{{font-family:W;font-weight:400;src:url(w4.woff2)}}@font-face{{font-family:\
             W;font-weight:700;src:url(w7.woff2)}}@font-face{{font-family:W;font-style:italic;src:url(wi.woff2)}}@font-face{{\
             font-family:S;src:url(s.eot);src:local('No'),url(s.eot?) format('embedded-opentype'),url(s.woff) \
             format('woff'),url(s.svg#a) format('svg')}}@font-face{{font-family:D;src:url(d1.woff2)}}@font-face{{\
             font-family:D;src:url(d2.woff2)}}.t{{font-family:{family}}}.y{{font-family:serif}}.b::before{{content:\
             '\\f101'}}</style>{body}"
        )
    };
    let check = |family: &str, body: &str, expected: &str| {
        assert_eq!(
            paths(&format!("<!doctype html>{}", page(family, body)), &[]),
            expected,
            "{family} {body}"
        );
    };
    check("X", "<div class=t>x</div>", "x.woff2");
    check("X", "<div class=t></div>", "");
    check("X", "<div class=t> <p class=y>x</p> </div>", "");
    check("X", "<div class=t><img></div>", "x.woff2");
    check("X", "<div class=t><span class=y>x</span></div>", "x.woff2");
    check(
        "X",
        "<div class=t><span class=y style=position:absolute>x</span></div>",
        "",
    );
    check(
        "X",
        "<div class=t style=display:flex><span class=y>x</span></div>",
        "",
    );
    check("X", "<div class=t style=display:none>x</div>", "");
    check("X", "<div class=t style=visibility:hidden>x</div>", "x.woff2");
    check("X,Y", "<div class=t>x</div>", "x.woff2");
    check("serif,X", "<div class=t>x</div>", "");
    check("serif,X", "<div class=t>&#xf101;</div>", "x.woff2");
    check("'No Such Font',X", "<div class=t>x</div>", "x.woff2");
    check("U", "<div class=t>a</div>", "lat.woff2");
    check("U", "<div class=t>\u{416}</div>", "cyr.woff2");
    check("W", "<div class=t>a<b>x</b></div>", "w4.woff2 w7.woff2");
    check("W", "<div class=t>a<i>x</i></div>", "w4.woff2 wi.woff2");
    check("W", "<h1 class=t>x</h1>", "w7.woff2");
    check("W", "<div class=t style=font-weight:600>x</div>", "w7.woff2");
    check("W", "<div class=t style=font-weight:500>x</div>", "w4.woff2");
    check("S", "<div class=t>x</div>", "s.woff");
    check("D", "<div class=t>x</div>", "d2.woff2");
    check("X", "<i class='t b'></i>", "x.woff2");
    check("X", "<input class=t>", "x.woff2");
    check("X", "<div class=t><button>x</button></div>", "x.woff2");
    check("X", "<button class=t></button>", "");
    check("X", "<body class=t><div class=y>x</div>", "");
    check("x", "<div class=t>x</div>", "x.woff2");
    check("serif", "<div style='font:bold 12px/1.5 X'>x</div>", "x.woff2");
}

#[test]
fn places() {
    let (requests, _) = open(
        "<!doctype html><style type=x>b{background:url(no.png)}</style><style media=print></style><svg><style>p{background:\
         url(a.png);cursor:url(a.png),url(b.png),auto}</style></svg><p style='border-image:url(&quot;c.png&quot;)'>x",
        &[],
    );
    let from: Vec<From> = requests.into_iter().map(|r| r.from).collect();
    let style = |nth| From::StyleElement { index: 1, nth };
    let attribute = From::StyleAttribute {
        text: "border-image:url(\"c.png\")".to_owned(),
        nth: 0,
    };
    assert_eq!(from, [style(0), attribute, style(1), style(2)]);
}

#[test]
fn hostile_input_ends_soon() {
    let open = |page: &str| paths(page, &[]).len();
    open(&"<div>".repeat(100_000));
    open(&"<p><b><i><u>".repeat(20_000));
    open(&format!("{}x", "<b class=a1><font size=2>".repeat(5_000)));
    open(&"<table><tr><td>".repeat(5_000));
    open(&"<svg><g>".repeat(20_000));
    open(&"<a><table>".repeat(3_000));
    open(&format!("<style>{}</style>", "a{".repeat(100_000)));
    open(&format!("<style>{}</style>", "@media x{".repeat(50_000)));
    open(&format!("<style>{}</style><p>", "(".repeat(100_000)));
    open(&format!(
        "<style>{}{{background:url(a)}}</style><p>",
        ":not(".repeat(10_000)
    ));
    open(&format!(
        "<style>{}p{{background:url(a)}}</style><p>",
        "p ".repeat(100_000)
    ));
    open(&format!(
        "<style>{}</style><p>",
        "& &{background:url(a);".repeat(60)
    ));
    open(&format!(
        "<style>{}</style><p>",
        "p,p{background:url(a);".repeat(60)
    ));
    let many: String = (0..20_000)
        .map(|i| format!(".c{i}{{background:url({i}.png)}}"))
        .collect();
    open(&format!(
        "<style>{many}</style>{}",
        "<p class=c1><i></i>".repeat(500)
    ));
    let layers: String = (0..20_000).map(|i| format!("@layer a{i};")).collect();
    open(&format!("<style>{layers}</style>"));
    let bomb: String = (0..60)
        .map(|i| format!("--v{}:var(--v{i}) var(--v{i}) url(a.png);", i + 1))
        .collect();
    open(&format!(
        "<style>p{{--v0:x;{bomb}background:var(--v60)}}</style><p>"
    ));
    open(&format!("<style>p{{background:{}", "url(a),".repeat(20_000)));
    open(&format!("<img srcset='{}'>", "a 1x,".repeat(50_000)));
    open(&format!(
        "<img srcset='a 1w' sizes='{}'>",
        "(min-width:1px) 1px,".repeat(20_000)
    ));
}

#[test]
fn imports_that_double() {
    let names: Vec<String> = (0..40).map(|i| format!("{i}.css")).collect();
    let sheets: Vec<String> = (0..40)
        .map(|i| format!("@import '{0}.css';@import '{0}.css' screen;", i + 1))
        .collect();
    let files: Vec<(&str, &str)> = names
        .iter()
        .map(String::as_str)
        .zip(sheets.iter().map(String::as_str))
        .collect();
    paths("<link rel=stylesheet href=0.css>", &files);
}

#[test]
fn sheets_and_documents_are_shared_between_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<Sheet>();
    shared::<Document>();
}

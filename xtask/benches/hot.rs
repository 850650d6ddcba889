//! `cargo bench -p xtask`: the functions that a build spends its time in, on the files of the example blog.
//!
//! Look at the change from one run to the next on the same machine; for what a whole build takes see
//! `cargo xtask bench`.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use encoding_rs::UTF_8;
use fewer::edit::{self, Edit};
use fewer::encode::{self, Coding, Effort};
use fewer::{css, html, script, view};

const PAGE: &[u8] = include_bytes!("../../fixtures/blog/site/index.html");
const SHEET: &str = include_str!("../../fixtures/blog/site/css/style.css");
const SCRIPT: &str = include_str!("../../fixtures/blog/site/js/site.js");

fn readers(c: &mut Criterion) {
    let mut group = c.benchmark_group("read");
    group.throughput(Throughput::Bytes(PAGE.len() as u64));
    group.bench_function("html::scan", |b| b.iter(|| html::scan(black_box(PAGE), UTF_8)));
    group.bench_function("view::parse", |b| b.iter(|| view::parse(black_box(PAGE), UTF_8)));
    group.throughput(Throughput::Bytes(SHEET.len() as u64));
    group.bench_function("css::scan", |b| b.iter(|| css::scan(black_box(SHEET), true)));
    group.bench_function("css::print", |b| b.iter(|| css::print(black_box(SHEET), None)));
    group.bench_function("view::compile", |b| b.iter(|| view::compile(black_box(SHEET))));
    group.throughput(Throughput::Bytes(SCRIPT.len() as u64));
    group.bench_function("script::read", |b| b.iter(|| script::read(black_box(SCRIPT))));
    group.finish();
}

fn writers(c: &mut Criterion) {
    let mut group = c.benchmark_group("write");
    group.throughput(Throughput::Bytes(PAGE.len() as u64));
    let edits: Vec<Edit> = (0..PAGE.len() / 100)
        .map(|nth| Edit {
            span: nth * 100..nth * 100 + 10,
            with: b"something else".to_vec(),
        })
        .collect();
    group.bench_function("edit::splice", |b| {
        b.iter(|| edit::splice(black_box(PAGE), &edits))
    });
    for coding in Coding::ALL {
        for effort in [Effort::Fast, Effort::Default] {
            let name = format!("encode {coding:?} {}", effort.name());
            let level = effort.level(coding);
            group.bench_function(name, |b| b.iter(|| encode::pack(coding, black_box(PAGE), level)));
        }
    }
    group.finish();
}

criterion_group!(benches, readers, writers);
criterion_main!(benches);

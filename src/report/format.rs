//! The formats of a report file, by name and by extension, and the one function that writes any of them.

use std::io::{self, Write};

use super::{Report, annotations, csv, har, html, json, junit, markdown, sarif};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Json,
    Html,
    Markdown,
    Junit,
    Sarif,
    Har,
    Csv,
    /// GitLab's code quality report.
    Gitlab,
}

impl Format {
    pub const ALL: [Format; 8] = [
        Format::Json,
        Format::Html,
        Format::Markdown,
        Format::Junit,
        Format::Sarif,
        Format::Har,
        Format::Csv,
        Format::Gitlab,
    ];

    /// How it is asked for where the name of the file does not say it.
    pub fn name(self) -> &'static str {
        match self {
            Format::Json => "json",
            Format::Html => "html",
            Format::Markdown => "md",
            Format::Junit => "junit",
            Format::Sarif => "sarif",
            Format::Har => "har",
            Format::Csv => "csv",
            Format::Gitlab => "gitlab",
        }
    }

    pub fn by_name(name: &str) -> Option<Format> {
        Format::ALL.into_iter().find(|format| format.name() == name)
    }

    pub fn by_extension(extension: &str) -> Option<Format> {
        match extension.to_ascii_lowercase().as_str() {
            "htm" => Some(Format::Html),
            "markdown" => Some(Format::Markdown),
            "xml" => Some(Format::Junit),
            // No extension of their own.
            "junit" | "gitlab" => None,
            other => Format::by_name(other),
        }
    }
}

/// `site` is SITE as it was typed: the formats that point into files need paths that lead there.
pub fn write(report: &Report, format: Format, site: &str, out: &mut dyn Write) -> io::Result<()> {
    match format {
        Format::Json => json::write_json(report, out),
        Format::Html => html::write(report, out),
        Format::Markdown => markdown::write(report, out),
        Format::Junit => junit::write(report, out),
        Format::Sarif => sarif::write(report, site, out),
        Format::Har => har::write(report, out),
        Format::Csv => csv::write(report, out),
        Format::Gitlab => annotations::write_gitlab(report, site, out),
    }
}

//! Prints how well the statement files of a folder are read: `statements FOLDER [--list]`.

use std::path::Path;
use std::process::ExitCode;

use fuzz::evidence::Evidence;
use fuzz::statements;
use fuzz::truncation::CutOutcome;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (folder, is_listed) = match arguments.as_slice() {
        [folder] => (*folder, false),
        [folder, "--list"] => (*folder, true),
        _ => {
            eprintln!("usage: statements FOLDER [--list]");
            return ExitCode::FAILURE;
        }
    };
    match statements::load(Path::new(folder)) {
        Ok(files) => {
            print(&files, is_listed);
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn print(files: &[statements::StatementFile], is_listed: bool) {
    let tallies = statements::measure(files);
    println!("statement files by others: {}", files.len());
    println!(
        "  {:<10}{:>7}{:>9}{:>7}{:>12}{:>7} | right files with {:>10}{:>10}",
        "", "right", "refused", "asked", "unexpected", "wrong", "a question", "a warning"
    );
    for (format, it) in &tallies {
        println!(
            "  {format:<10}{:>7}{:>9}{:>7}{:>12}{:>7} | {:>27}{:>10}",
            it.right, it.refused, it.asked, it.unexpected, it.wrong, it.questions, it.warnings
        );
    }
    println!("files without an answer, which only must not crash");
    println!(
        "  {:<10}{:>9}{:>9}{:>12}{:>9}{:>11}{:>7}",
        "", "proven", "asked", "every line", "refused", "unchecked", "lost"
    );
    for (format, it) in &tallies {
        let count = |evidence| it.without_answer.get(&evidence).copied().unwrap_or_default();
        let [proven, asked, every_line, refused, nothing, lost] = Evidence::ALL.map(count);
        println!(
            "  {format:<10}{proven:>9}{asked:>9}{every_line:>12}{refused:>9}{nothing:>11}{lost:>7}"
        );
    }
    println!("cut files");
    println!(
        "  {:<10}{:>9}{:>9}{:>15}{:>17}{:>8}",
        "", "refused", "says so", "loses nothing", "between records", "silent"
    );
    for (format, it) in &tallies {
        let count = |outcome| it.cuts.get(&outcome).copied().unwrap_or_default();
        println!(
            "  {format:<10}{:>9}{:>9}{:>15}{:>17}{:>8}",
            count(CutOutcome::Refused),
            count(CutOutcome::SaysSo),
            count(CutOutcome::LosesNothing),
            count(CutOutcome::EndsBetweenRecords),
            count(CutOutcome::Silent)
        );
    }
    if is_listed {
        tallies.values().flat_map(|it| &it.remarks).for_each(|it| println!("{it}"));
    }
}

use super::{FileContents, FileError, Format, REJECTED_MAX, fixtures, read, read_as};

fn statement(kind: &str) -> String {
    format!(
        "<STMTRS><CURDEF>USD<BANKACCTFROM><BANKID>1<ACCTID>77<ACCTTYPE>{kind}</BANKACCTFROM>\
         <BANKTRANLIST></BANKTRANLIST></STMTRS>"
    )
}

fn ids(reading: &FileContents) -> Vec<&str> {
    reading.accounts.iter().map(|it| it.draft.external_id.as_str()).collect()
}

#[test]
fn accounts_with_the_same_number_get_different_ids() {
    let kinds = ["CHECKING", "SAVINGS", "CHECKING", "MONEYMRKT"];
    let text = format!("<OFX>{}", kinds.map(statement).concat());
    let reading = read(text.as_bytes(), &fixtures::options()).unwrap();
    assert_eq!(ids(&reading), ["77", "77 (2)", "77 (3)"]);
}

#[test]
fn accounts_without_a_number_stay_without_one() {
    let text = "!Type:Bank\nD1/31/2024\nT1\n^\n!Type:CCard\nD1/31/2024\nT1\n^\n";
    let reading = read(text.as_bytes(), &fixtures::options()).unwrap();
    assert_eq!(ids(&reading), ["", ""]);
}

#[test]
fn a_file_is_read_in_the_given_format() {
    let text = "1/31/2024 1\n";
    assert_eq!(read(text.as_bytes(), &fixtures::options()).unwrap_err(), FileError::Unknown);
    for format in Format::ALL {
        match read_as(*format, text.as_bytes(), &fixtures::options()) {
            Ok(reading) => assert_eq!(reading.format, *format),
            Err(FileError::Broken { format: named, .. }) => {
                assert_eq!(named.provenance(), format.provenance())
            }
            Err(error) => assert_eq!((*format, error), (Format::Csv, FileError::Unknown)),
        }
    }
}

/// None of these is a bank's file. Each would take minutes or gigabytes in a parser that reads anything twice,
/// recurses with every token, or keeps data that it cannot use.
#[test]
fn no_parser_is_slow_on_repetitive_input() {
    const BYTES: usize = 50_000;
    for opening in [
        "",
        "<OFX><STMTTRN><NAME>",
        "<D><Stmt><Ntry>",
        ":20:A\n:61:260101C1,NTRF\n:86:",
        "!Type:Bank\nP",
        "Date,Amount\n\"",
    ] {
        for piece in [
            "x",
            " ",
            "\n",
            "\r",
            "\0",
            "\"",
            "\"\n",
            "<",
            "<a>",
            "</a>",
            "<![CDATA[",
            "&",
            "&#",
            "é",
            ",",
            ";",
            ":61:",
            "?20",
            "/",
            "^\n",
            "!",
            "{1:",
            "1/1/24,1\n",
        ] {
            let text = opening.to_owned() + &piece.repeat(BYTES / piece.len());
            for format in Format::ALL {
                let Ok(reading) = read_as(*format, text.as_bytes(), &fixtures::options()) else {
                    continue;
                };
                let rows = reading.accounts.iter().map(|it| it.draft.transactions.len());
                assert!(rows.sum::<usize>() <= fixtures::options().limits.rows);
                assert!(reading.rejected.rows.len() <= REJECTED_MAX);
            }
        }
    }
}

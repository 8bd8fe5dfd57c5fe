//! Stores that are wrong, slow, broken or hostile. Each gets an error that says what to do, in bounded time and memory.

use std::time::Duration;

use s3::Error;
use testkit::object_store::{Fault, ObjectStore};

use crate::{content, download, impatient_store, store, upload};

fn xml_error(code: &str, more: &str) -> String {
    format!("<?xml version=\"1.0\"?><Error><Code>{code}</Code><Message>m</Message>{more}</Error>")
}

#[tokio::test]
async fn an_error_says_what_to_do() {
    let server = ObjectStore::start().await;
    let store = store(&server);
    for (status, headers, body, advice) in [
        (404, &[][..], xml_error("NoSuchBucket", ""), "create it, or correct bucket"),
        (403, &[], xml_error("SignatureDoesNotMatch", ""), "check secret_access_key"),
        (403, &[], xml_error("InvalidAccessKeyId", ""), "access_key_id"),
        (403, &[], xml_error("RequestTimeTooSkewed", ""), "time synchronization"),
        (403, &[], xml_error("AccessDenied", ""), "allow it to list the bucket"),
        (403, &[], String::new(), "allow it to list the bucket"),
        (301, &[("x-amz-bucket-region", "eu-west-1")], String::new(), "region eu-west-1"),
        (
            400,
            &[],
            xml_error("AuthorizationHeaderMalformed", "<Region>eu-central-1</Region>"),
            "region eu-central-1",
        ),
        (
            301,
            &[("location", "https://elsewhere.example")],
            String::new(),
            "check endpoint and region",
        ),
        (507, &[], xml_error("QuotaExceeded", ""), "status 507: QuotaExceeded m"),
        (418, &[], "\u{1b}[31m<html>".to_owned(), "status 418)"),
        (200, &[], "<html>Welcome</html>".to_owned(), "not S3; check endpoint"),
        (200, &[], String::new(), "not S3; check endpoint"),
    ] {
        server.fail_next("GET", Fault::Response(status, headers, body.clone()));
        let error = store.list("x").await.unwrap_err().to_string();
        assert!(error.contains(advice), "{status} {body}: {error}");
    }
}

#[tokio::test]
async fn a_list_that_does_not_end_or_breaks_off_is_refused() {
    let server = ObjectStore::start().await;
    let store = store(&server);
    let list = |inside: &str| {
        Fault::Response(200, &[], format!("<ListBucketResult>{inside}</ListBucketResult>"))
    };
    let more = |token: &str| {
        list(&format!(
            "<IsTruncated>true</IsTruncated><NextContinuationToken>{token}</NextContinuationToken>"
        ))
    };
    // It says that there is more, and not where.
    server.fail_next("GET", list("<IsTruncated>true</IsTruncated>"));
    assert!(matches!(store.list("x").await, Err(Error::Malformed { .. })));
    // The next page is always the same one.
    (0..2).for_each(|_| server.fail_next("GET", more("same")));
    assert_eq!(store.list("x").await, Err(Error::EndlessList));
    (0..100).for_each(|number| server.fail_next("GET", more(&number.to_string())));
    assert_eq!(store.list("x").await, Err(Error::EndlessList));
    for bad in [
        "<Contents><Key>home/x</Key></Contents>",
        "<Contents><Key>home/x</Key><Size>-1</Size></Contents>",
        "<Contents><Key>home/x</Key><Size>99999999999999999999</Size></Contents>",
        "<Contents><Size>1</Size></Contents>",
        "<Contents><Key>home/x</Key><Size>1</Size>",
        "<Contents><Key>&unknown;</Key><Size>1</Size></Contents>",
    ] {
        server.fail_next("GET", list(bad));
        assert!(matches!(store.list("x").await, Err(Error::Malformed { .. })), "{bad}");
    }
    // Objects that nobody asked for are left out.
    server.fail_next("GET", list("<Contents><Key>home/y</Key><Size>1</Size></Contents><Contents><Key>x</Key><Size>1</Size></Contents>"));
    assert_eq!(store.list("x").await, Ok(Vec::new()));
}

#[tokio::test]
async fn entities_and_endless_bodies_are_refused() {
    let server = ObjectStore::start().await;
    let store = store(&server);
    let bomb = "<!DOCTYPE x [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;&a;&a;&a;&a;\">]>\
        <ListBucketResult><Contents><Key>&b;</Key><Size>1</Size></Contents></ListBucketResult>";
    server.fail_next("GET", Fault::Response(200, &[], bomb.to_owned()));
    assert!(matches!(store.list("x").await, Err(Error::Malformed { .. })));
    server.fail_next("GET", Fault::Endless);
    assert!(matches!(store.list("x").await, Err(Error::Malformed { .. })));
    server.put("home/it", content(5_000));
    server.fail_next("GET", Fault::Endless);
    assert!(matches!(download(&store, "it").await, Err(Error::Malformed { .. })));
    (0..4).for_each(|_| server.fail_next("GET", Fault::Hold));
    let impatient = impatient_store(&server, Duration::from_millis(200));
    let error = impatient.list("x").await.unwrap_err().to_string();
    assert!(error.contains("did not answer in time"), "{error}");
}

#[tokio::test]
async fn a_range_of_the_wrong_length_or_place_is_refused() {
    let server = ObjectStore::start().await;
    let store = store(&server);
    server.put("home/it", content(2_500));
    server.fail_next("GET", Fault::Shortened);
    assert!(matches!(download(&store, "it").await, Err(Error::Malformed { .. })));
    for range in ["bytes 1-10/2500", "bytes 0-9/5", "bytes 9-0/2500", "bytes 0-9/*", "x"] {
        let headers: &'static [(&str, &str)] = Vec::leak(vec![("content-range", range)]);
        server.fail_next("GET", Fault::Response(206, headers, "0123456789".to_owned()));
        assert!(matches!(download(&store, "it").await, Err(Error::Malformed { .. })), "{range}");
    }
    // The object is replaced while it is read.
    let mut reading = store.download("it");
    reading.next().await.unwrap();
    server.put("home/it", content(3_000));
    assert_eq!(reading.next().await, Err(Error::Changed));
    let mut reading = store.download("it");
    reading.next().await.unwrap();
    server.fail_next("GET", Fault::Response(412, &[], xml_error("PreconditionFailed", "")));
    assert_eq!(reading.next().await, Err(Error::Changed));
    // One changed byte shows in the hash.
    let (_, good) = download(&store, "it").await.unwrap();
    server.fail_next("GET", Fault::Corrupt);
    assert_ne!(download(&store, "it").await.unwrap().1, good);
    assert_eq!(download(&store, "missing").await, Err(Error::NotFound));
}

#[tokio::test]
async fn an_upload_that_ends_with_an_error_after_success_has_failed() {
    let server = ObjectStore::start().await;
    let store = store(&server);
    for (text, status, body) in [
        ("POST /money/home/it?uploadId", 200, xml_error("InternalError", "")),
        ("POST /money/home/it?uploadId", 200, "<html/>".to_owned()),
        ("POST /money/home/it?uploads", 200, "<InitiateMultipartUploadResult/>".to_owned()),
        // Without a tag the part cannot be named.
        ("partNumber=1", 200, String::new()),
        ("partNumber=2", 403, String::new()),
    ] {
        server.fail_next(text, Fault::Response(status, &[], body));
        assert!(upload(&store, "it", content(2_500)).await.is_err(), "{text}");
        assert!(server.keys().is_empty(), "{text}");
        assert_eq!(server.unfinished_uploads(), 0, "{text}");
    }
}

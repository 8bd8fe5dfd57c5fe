//! Tests of the settings and their layers.

use std::fs;

use super::*;

/// Loads settings from a data directory with a configuration file, flags and variables.
struct Case {
    folder: tempfile::TempDir,
    flags: Flags,
    variables: Vec<(OsString, OsString)>,
}

impl Case {
    fn new(file: &str, variables: &[(&str, &str)], flags: &[(&'static str, &str)]) -> Case {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("evenkeel.toml"), file).unwrap();
        let data_dir = ("data_dir", "--data-dir", folder.path().display().to_string());
        let given = flags.iter().map(|(name, text)| (*name, "--flag", (*text).to_owned()));
        let values = given.chain([data_dir]).collect();
        let variables = variables.iter().map(|(name, text)| (name.into(), text.into())).collect();
        Case { folder, flags: Flags { file: None, values }, variables }
    }

    fn load(&self) -> Result<Config> {
        load_with(&self.flags, Search::DataDir, self.variables.clone())
    }

    fn error(&self) -> String {
        let error = format!("{:#}", self.load().err().expect("an error"));
        error.replace(&self.folder.path().display().to_string(), "DIR")
    }
}

#[test]
fn precedence_is_flags_then_environment_then_file_then_defaults() {
    let file = "listen = \"1.1.1.1:1\"\n[rate_limit]\nrequests = 1\nwindow_seconds = 1";
    let variables = [("EVENKEEL_LISTEN", "2.2.2.2:2"), ("EVENKEEL_RATE_LIMIT__REQUESTS", "2")];
    let case = Case::new(file, &variables, &[("listen", "3.3.3.3:3")]);
    let config = case.load().unwrap();
    assert_eq!(config.listen, "3.3.3.3:3");
    assert_eq!(config.rate_limit, Policy { requests: 2, window_seconds: 1 });
    assert_eq!(config.demo_feed_seconds, 20);
    assert!(config.data_dir_given);
    let shown = config.to_toml();
    for line in [
        "listen = \"3.3.3.3:3\"  # --flag",
        "requests = 2  # EVENKEEL_RATE_LIMIT__REQUESTS",
        "feed_seconds = 20  # default",
        "# public_url is not set",
    ] {
        assert!(shown.contains(line), "{line} is not in\n{shown}");
    }
}

#[test]
fn printed_settings_can_be_loaded_again() {
    let variables = [("EVENKEEL_CORS__ORIGINS", "https://a.example,https://b.example")];
    let first = Case::new("", &variables, &[]).load().unwrap();
    let text: String = first
        .to_toml()
        .lines()
        .filter(|it| !it.starts_with("data_dir"))
        .map(|it| format!("{it}\n"))
        .collect();
    let again = Case::new(&text, &[], &[]).load().unwrap();
    assert_eq!(again.cors_origins, ["https://a.example", "https://b.example"]);
    assert_eq!(again.listen, first.listen);
}

#[test]
fn unknown_names_are_refused_with_their_location_and_the_nearest_name() {
    let in_file = |file: &str| Case::new(file, &[], &[]).error();
    assert_eq!(
        in_file("[rate_limits]\nrequests = 5"),
        "DIR/evenkeel.toml: rate_limits.requests is not a setting; did you mean \
         rate_limit.requests?"
    );
    assert_eq!(
        in_file("[telemetry]\nendpoint = 1"),
        "DIR/evenkeel.toml: telemetry.endpoint is not a setting; `evenkeel config` lists all \
            settings"
    );
    assert_eq!(
        Case::new("", &[("EVENKEEL_RATE_LIMIT_REQUESTS", "5")], &[]).error(),
        "EVENKEEL_RATE_LIMIT_REQUESTS is not a setting; did you mean EVENKEEL_RATE_LIMIT__REQUESTS?"
    );
}

#[test]
fn invalid_values_are_refused_with_the_accepted_values() {
    assert_eq!(
        Case::new("[rate_limit]\nrequests = \"many\"", &[], &[]).error(),
        "rate_limit.requests in DIR/evenkeel.toml must be a whole number from 1 to 1000000000, \
         not \"many\""
    );
    assert_eq!(
        Case::new("", &[("EVENKEEL_LOG__FORMAT", "yaml")], &[]).error(),
        "EVENKEEL_LOG__FORMAT must be one of auto, human, json, not \"yaml\""
    );
    assert_eq!(
        Case::new("listen = 1\n[log\n", &[], &[]).error().split(':').next(),
        Some("DIR/evenkeel.toml is not TOML in line 2")
    );
}

#[test]
fn errors_and_printed_settings_contain_no_secrets() {
    for case in [
        Case::new("database.url = \"mysql://me:hunter2@host/x\"", &[], &[]),
        Case::new("", &[("EVENKEEL_DATABASE__URL", "mysql://me:hunter2@host/x")], &[]),
        Case::new("", &[("EVENKEEL_INSTALLATION_KEY", "hunter2")], &[]),
    ] {
        assert!(!case.error().contains("hunter2"), "{}", case.error());
    }
    let variables = [("EVENKEEL_DATABASE__URL", "postgres://me:hunter2@host/x")];
    let config = Case::new("", &variables, &[]).load().unwrap();
    assert!(!config.to_toml().contains("hunter2") && config.to_toml().contains("(hidden)"));
    assert!(!config.to_json().to_string().contains("hunter2"));
}

#[test]
fn a_secret_can_be_read_from_a_file_but_not_set_twice() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("secret");
    fs::write(&path, "postgres://me:hunter2@host/x\n").unwrap();
    let path = path.display().to_string();
    let in_file = ("EVENKEEL_DATABASE__URL_FILE", path.as_str());
    let config = Case::new("", &[in_file], &[]).load().unwrap();
    assert_eq!(config.database_url.as_deref(), Some("postgres://me:hunter2@host/x"));
    let both = [in_file, ("EVENKEEL_DATABASE__URL", "postgres://me@host/y")];
    assert!(Case::new("", &both, &[]).error().ends_with("are both set; keep one of them"));
    let missing = Case::new("", &[("EVENKEEL_DATABASE__URL_FILE", "/nowhere")], &[]).error();
    assert!(missing.starts_with("cannot read the file /nowhere that"), "{missing}");
}

#[test]
fn empty_variables_and_those_of_tests_and_requests_are_ignored() {
    let variables = [
        ("EVENKEEL_PUBLIC_URL", ""),
        ("EVENKEEL_TEST_POSTGRES", "postgres://x"),
        ("EVENKEEL_KEY", "ek_1"),
        ("PATH", "/bin"),
    ];
    assert_eq!(Case::new("", &variables, &[]).load().unwrap().public_url, None);
}

#[test]
fn the_demo_reads_no_file_from_the_default_data_directory() {
    let case = Case::new("data_dir = \"elsewhere\"", &[], &[]);
    assert!(case.error().starts_with("data_dir cannot be set by the file inside"));
    let no_flags = Flags::default();
    let config = load_with(&no_flags, Search::GivenDataDir, Vec::new()).unwrap();
    assert!(!config.data_dir_given);
    let named = Flags { file: Some(case.folder.path().join("evenkeel.toml")), values: Vec::new() };
    let config = load_with(&named, Search::GivenDataDir, Vec::new()).unwrap();
    assert_eq!(config.data_dir, PathBuf::from("elsewhere"));
    assert!(config.data_dir_given);
}

#[test]
fn providers_of_single_sign_on_have_names_that_the_operator_chooses() {
    let file = "[oidc.work]\nissuer = \"https://work.example\"\nclient_id = \"w\"\n\
                admin_groups = [\"admins\", \"home office\"]";
    let variables = [
        ("EVENKEEL_OIDC__HOME__ISSUER", "https://auth.home.example/realms/a"),
        ("EVENKEEL_OIDC__HOME__CLIENT_ID", "money"),
        ("EVENKEEL_OIDC__HOME__CLIENT_SECRET", "hunter2"),
        ("EVENKEEL_OIDC__HOME__LABEL", "Our house"),
        ("EVENKEEL_OIDC__HOME__CREATE_FOR_DOMAINS", "home.example, b.example"),
        ("EVENKEEL_OIDC__HOME__LINK_VERIFIED_EMAIL", "true"),
        ("EVENKEEL_SIGN_IN__PASSWORD", "false"),
    ];
    let config = Case::new(file, &variables, &[]).load().unwrap();
    assert!(!config.password_sign_in);
    let [home, work] = &config.oidc_providers[..] else { panic!("two providers") };
    assert_eq!((home.name.as_str(), home.label.as_str()), ("home", "Our house"));
    assert_eq!(home.client_secret.as_deref(), Some("hunter2"));
    assert_eq!(home.create_for_domains, ["home.example", "b.example"]);
    assert_eq!(home.scopes, ["openid", "profile", "email"]);
    assert!(home.link_verified_email && !work.link_verified_email);
    assert_eq!((work.label.as_str(), work.client_secret.as_deref()), ("Work", None));
    assert_eq!(work.admin_groups, ["admins", "home office"]);
    let shown = config.to_toml();
    assert!(!shown.contains("hunter2") && shown.contains("home.client_id = \"money\""), "{shown}");
    assert!(!config.to_json().to_string().contains("hunter2"));

    let printed: String = shown
        .lines()
        .filter(|it| !it.starts_with("data_dir"))
        .map(|it| format!("{}\n", it.replace("(hidden)", "hunter2")))
        .collect();
    assert_eq!(Case::new(&printed, &[], &[]).load().unwrap().oidc_providers.len(), 2);
}

#[test]
fn incomplete_providers_of_single_sign_on_are_refused_with_a_sentence() {
    let error = |file: &str| Case::new(file, &[], &[]).error();
    assert_eq!(
        error("[oidc.work]\nissuer = \"https://work.example\""),
        "oidc.work needs oidc.work.client_id; set it, or remove the others"
    );
    assert_eq!(
        error("[oidc.work]\nclient_id = \"a\"\nissuer = \"http://work.example\""),
        "oidc.work.issuer in DIR/evenkeel.toml must be an address such as https://auth.example.com, or one with \
         http on this machine, without a query, not \"http://work.example\""
    );
    assert_eq!(
        error("[oidc.work]\nisuer = \"https://work.example\""),
        "DIR/evenkeel.toml: oidc.work.isuer is not a setting; did you mean oidc.NAME.issuer?"
    );
    let both = "issuer = \"https://work.example\"\nclient_id = \"a\"";
    assert_eq!(
        error(&format!("[oidc.a]\n{both}\n[oidc.b]\n{both}")),
        "oidc.a and oidc.b have the same issuer; keep one of them"
    );
    assert_eq!(
        error(&format!("[oidc.a]\n{both}\nscopes = [\"email\"]")),
        "oidc.a.scopes must contain openid"
    );
    assert_eq!(
        error("[sign_in]\npassword = false"),
        "sign_in.password is false, and no provider of single sign-on is set; nobody new could sign in"
    );
    let secret = Case::new("", &[("EVENKEEL_OIDC__A__CLIENT_SECRET_FILE", "/nowhere")], &[]);
    assert!(secret.error().starts_with("cannot read the file /nowhere that"), "{}", secret.error());
}

#[test]
fn a_public_address_with_a_path_is_refused() {
    for url in ["https://home.example/money", "https://home.example/"] {
        let error = Case::new("", &[("EVENKEEL_PUBLIC_URL", url)], &[]).error();
        let expected = format!(
            "EVENKEEL_PUBLIC_URL must be an address such as https://money.example.com, without a path, not {url:?}"
        );
        assert_eq!(error, expected);
    }
}

#[test]
fn backups_go_to_a_folder_or_to_a_store_with_all_that_it_needs() {
    let store =
        "[backups.s3]\nendpoint = \"http://nas:9000\"\nbucket = \"money\"\naccess_key_id = \"id\"";
    let secret = [("EVENKEEL_BACKUPS__S3__SECRET_ACCESS_KEY", "hunter2")];
    let config = Case::new(store, &secret, &[]).load().unwrap();
    assert!(config.backups.is_some_and(|it| it.folder.is_none()));
    let settings = config.backup_store.unwrap().settings;
    assert_eq!((settings.region.as_str(), settings.prefix.as_str()), ("us-east-1", ""));
    assert_eq!(settings.addressing, s3::Addressing::Path);
    let error = Case::new(store, &[], &[]).error();
    assert!(error.contains("needs backups.s3.secret_access_key"), "{error}");
    let both = format!("[backups]\nfolder = \"/mnt\"\n{store}");
    let error = Case::new(&both, &secret, &[]).error();
    assert!(error.contains("set only one of them") && !error.contains("hunter2"), "{error}");
    let config = Case::new("[backups]\nfolder = \"/mnt\"", &[], &[]).load().unwrap();
    assert!(config.backup_store.is_none() && config.backups.is_some());
}

#[test]
fn email_needs_a_sender_and_an_address_for_links() {
    let file = "public_url = \"https://money.example.com\"\n[mail]\nserver = \"smtp.example.com\"\n\
        from = \"Evenkeel <money@example.com>\"";
    let config = Case::new(file, &[], &[]).load().unwrap();
    let smtp = config.mail.unwrap().smtp;
    assert_eq!((smtp.port, smtp.security), (587, net::Security::StartTls));
    assert_eq!(smtp.own_name, "money.example.com");
    assert!(smtp.login.is_none());
    for (bad, advice) in [
        ("[mail]\nserver = \"a\"\nfrom = \"a@b.example\"", "needs public_url"),
        ("[mail]\nserver = \"a\"", "needs mail.from"),
        ("[mail]\nserver = \"a b\"", "must be a host name"),
        ("[mail]\nserver = \"a\"\nfrom = \"nobody\"", "must look like"),
    ] {
        let error = Case::new(bad, &[], &[]).error();
        assert!(error.contains(advice), "{bad}: {error}");
    }
    let error = Case::new(file, &[("EVENKEEL_MAIL__PASSWORD", "hunter2")], &[]).error();
    assert!(error.contains("belong together") && !error.contains("hunter2"), "{error}");
    assert!(Case::new("", &[], &[]).load().unwrap().mail.is_none());
}

//! The pages of goals, investments, scores and benefits.

use http::StatusCode;
use service::ledger::goals::{self, Kind, NewGoal, Status};
use testkit::{Person, World};

use crate::browser::Browser;

async fn create_goal(world: &World, person: &Person, name: &str) -> base::GoalId {
    let new = NewGoal {
        name: name.to_owned(),
        kind: Kind::Savings,
        status: Status::Active,
        target: base::Money::new(200_000, base::Currency::USD),
        saved_minor: 50_000,
        target_on: None,
        accounts: Vec::new(),
    };
    goals::create(&world.app, &person.caller, new).await.unwrap()
}

#[tokio::test]
async fn a_goal_is_created_changed_and_paused_by_forms() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let mut browser = Browser::of(&world, &robin).await;
    assert!(browser.get("/goals").await.good().contains("No goals yet"));
    let fields = [
        ("name", "A boat"),
        ("kind", "purchase"),
        ("target_amount", "12,500.50"),
        ("target_date", "2027-03-10"),
        ("saved_amount", "500"),
    ];
    let page = browser.submit("/goals/new", &fields).await.good();
    assert!(page.contains("A boat") && page.contains("$12,500.50"), "{page}");
    assert!(page.contains("Goal created."), "{page}");
    let found = browser.get("/search?q=boat").await.good();
    assert!(found.contains("<h2>Goals</h2>") && found.contains(">A boat</a>"), "{found}");
    assert!(!browser.get("/goals").await.good().contains("Goal created."));
    let goal = goals::list(&world.app, &robin.caller, None).await.unwrap().remove(0);
    let paused = format!("/goals/{}/status", goal.id);
    let page = browser.submit(&paused, &[("status", "paused")]).await.good();
    assert!(page.contains("Paused") && page.contains("Resume"), "{page}");
    let form = browser.get(&format!("/goals/{}", goal.id)).await.good();
    assert!(form.contains("value=\"12500.50\"") && form.contains("value=\"2027-03-10\""), "{form}");
    let changed = [("name", "A smaller boat"), ("kind", "purchase"), ("target_amount", "9000")];
    browser.submit(&format!("/goals/{}", goal.id), &changed).await.good();
    let goal = goals::get(&world.app, &robin.caller, goal.id).await.unwrap();
    assert_eq!((goal.goal.name.as_str(), goal.goal.target_minor), ("A smaller boat", 900_000));
    assert_eq!((goal.saved_minor, goal.goal.target_on), (0, None));
}

#[tokio::test]
async fn an_invalid_goal_is_refused_and_typed_values_are_kept() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let mut browser = Browser::of(&world, &robin).await;
    for (fields, message) in [
        ([("name", ""), ("target_amount", "10")], "Name must have 1 to 80 characters"),
        ([("name", "Boat"), ("target_amount", "a lot")], "aria-invalid=\"true\""),
        ([("name", "Boat"), ("target_amount", "-5")], "more than zero"),
        ([("name", "Boat"), ("target_amount", "1.234")], "aria-invalid=\"true\""),
    ] {
        let page = browser.post("/goals/new", &fields).await;
        assert_eq!(page.status, StatusCode::BAD_REQUEST);
        assert!(page.text.contains(message), "{message}: {}", page.text);
        let typed = format!("value=\"{}\"", fields[1].1);
        assert!(page.text.contains(&typed), "{typed}: {}", page.text);
    }
    // All errors are shown at once.
    let fields = [("name", ""), ("target_amount", "a lot"), ("target_date", "soon")];
    let page = browser.post("/goals/new", &fields).await.text;
    assert_eq!(page.matches("aria-invalid=\"true\"").count(), 3, "{page}");
    assert!(goals::list(&world.app, &robin.caller, None).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_name_with_markup_is_escaped() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let name = "<script>alert(1)</script>\"'>";
    let goal = create_goal(&world, &robin, name).await;
    let mut browser = Browser::of(&world, &robin).await;
    for path in ["/goals".to_owned(), format!("/goals/{goal}")] {
        let page = browser.get(&path).await.good();
        assert!(!page.contains("<script>alert"), "{page}");
        assert!(page.contains("&lt;script&gt;alert(1)"), "{page}");
    }
}

#[tokio::test]
async fn another_persons_goal_is_not_found() {
    let world = World::new().await;
    let (robin, kim) =
        (world.person("robin@example.com").await, world.person("kim@example.com").await);
    let goal = create_goal(&world, &kim, "Secret").await;
    let mut browser = Browser::of(&world, &robin).await;
    let made_up = "goal_01kny3v1m8f2x9q4t7r5c6b8de";
    let unknown = browser.get(&format!("/goals/{made_up}")).await;
    let other = browser.get(&format!("/goals/{goal}")).await;
    assert_eq!(other.status, StatusCode::NOT_FOUND);
    // The pages differ only in their own addresses.
    assert_eq!(other.text.replace(&goal.to_string(), made_up), unknown.text);
    let fields = [("name", "Mine"), ("target_amount", "1"), ("status", "cancelled")];
    for path in [format!("/goals/{goal}"), format!("/goals/{goal}/status")] {
        assert_eq!(browser.post(&path, &fields).await.status, StatusCode::NOT_FOUND);
    }
    let left = goals::get(&world.app, &kim.caller, goal).await.unwrap();
    assert_eq!((left.goal.name.as_str(), left.goal.status), ("Secret", Status::Active));
}

#[tokio::test]
async fn pages_without_data_say_so() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let mut browser = Browser::of(&world, &robin).await;
    for (path, message) in [
        ("/investments", "No holdings yet"),
        ("/scores", "No scores yet"),
        ("/benefits", "No card benefits yet"),
        ("/goals", "No goals yet"),
    ] {
        assert!(browser.get(path).await.good().contains(message), "{path}");
    }
    // Invalid parameters in the URL are ignored.
    for path in ["/investments?sort=evil&order=%zz", "/investments?sort=%3Cscript%3E"] {
        assert!(browser.get(path).await.good().contains("No holdings yet"), "{path}");
    }
}

#[tokio::test]
async fn amounts_are_hidden_until_they_are_shown_again() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    create_goal(&world, &robin, "A boat").await;
    let mut browser = Browser::of(&world, &robin).await;
    assert!(browser.get("/goals").await.good().contains("$2,000.00"));
    let page = browser.submit("/view", &[("hide", "1"), ("next", "/goals")]).await.good();
    assert!(page.contains("$•••") && !page.contains("2,000") && !page.contains("500.00"), "{page}");
    let page = browser.submit("/view", &[("hide", "0"), ("next", "/goals")]).await.good();
    assert!(page.contains("$2,000.00"), "{page}");
    let dark = browser.submit("/view", &[("theme", "dark"), ("next", "/goals")]).await.good();
    assert!(dark.contains("data-theme=\"dark\""), "{dark}");
    let away = browser.post("/view", &[("hide", "1"), ("next", "//evil.example")]).await;
    assert_eq!(away.headers["location"], "/");
}

#[tokio::test]
async fn an_anonymous_person_is_sent_to_sign_in_and_back() {
    let world = World::new().await;
    let mut browser = Browser::new(&world);
    assert_eq!(browser.get("/goals").await.headers["location"], "/setup");
    world.person("robin@example.com").await;
    let led = browser.get("/goals?x=1").await;
    assert_eq!(led.status, StatusCode::SEE_OTHER);
    assert_eq!(led.headers["location"], "/sign-in?next=/goals%3Fx%3D1");
    let sent = browser.post("/goals/new", &[("name", "x")]).await;
    assert_eq!(sent.headers["location"], "/sign-in");
}

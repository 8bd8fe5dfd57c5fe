-- What we work out from the household's data, and what the person decided about it. All that is worked out can be made
-- again from the tables of the first step; what was decided is kept apart from it and always wins.

-- The source's own words step aside for what is shown, which is theirs until something better is known.
alter table transactions rename column counterparty to told_counterparty;
alter table transactions rename column category to told_category;
alter table transactions add column counterparty text;
alter table transactions add column category text;
-- Which step of the cascade named the category.
alter table transactions add column category_stage text;
alter table transactions add column merchant_key text;
-- Both legs of a move between own accounts have its kind, and the outflow's id as `transfer_id`.
alter table transactions add column transfer_kind text;
update transactions set counterparty = told_counterparty, category = told_category;

-- Holds all that finding streams looks at, so that a merchant met daily for ten years costs one walk over it.
create index transactions_by_merchant on transactions
    (user_id, account_id, merchant_key, posted_on, id, amount_minor, state, transfer_kind);

create table transaction_fixes (
    user_id {bytes} not null references users (id) on delete cascade,
    transaction_id {bytes} not null,
    counterparty text,
    category text,
    fixed_at {int} not null,
    primary key (user_id, transaction_id)
) {clustered};

-- A rule speaks of a merchant key, or of words in the bank's text; where it says nothing it asks for nothing.
create table rules (
    user_id {bytes} not null references users (id) on delete cascade,
    id {bytes} not null,
    merchant_key text,
    words text,
    account_id {bytes},
    direction text,
    counterparty text,
    category text,
    created_at {int} not null,
    primary key (user_id, id)
) {clustered};

-- The two legs of a move between the person's own accounts. `state` is paired or suggested.
create table transfers (
    user_id {bytes} not null references users (id) on delete cascade,
    outflow_id {bytes} not null,
    inflow_id {bytes} not null,
    left_on {int} not null,
    state text not null,
    kind text not null,
    evidence text not null,
    found_at {int} not null,
    primary key (user_id, outflow_id, inflow_id)
) {clustered};

create index transfers_by_day on transfers (user_id, left_on);

-- `decision` is refused or confirmed.
create table transfer_decisions (
    user_id {bytes} not null references users (id) on delete cascade,
    outflow_id {bytes} not null,
    inflow_id {bytes} not null,
    decision text not null,
    decided_at {int} not null,
    primary key (user_id, outflow_id, inflow_id)
) {clustered};

-- `transaction_ids` are all of them, newest first, sixteen bytes each; `price_changes` (day,
-- before, after, and again) and `missed_on` (days) are JSON lists of numbers.
create table streams (
    user_id {bytes} not null,
    id {bytes} not null,
    account_id {bytes} not null,
    direction text not null,
    merchant_key text not null,
    currency text not null,
    name text not null,
    counterparty text,
    counterparty_logo_url text,
    category text,
    stream_type text not null,
    frequency text not null,
    status text not null,
    confidence text not null,
    amount_class text not null,
    average_minor {int} not null,
    last_minor {int} not null,
    min_minor {int} not null,
    max_minor {int} not null,
    monthly_minor {int} not null,
    first_on {int} not null,
    last_on {int} not null,
    next_expected_on {int},
    transaction_ids {bytes} not null,
    price_changes text not null,
    missed_on text not null,
    updated_at {int} not null,
    primary key (user_id, id),
    foreign key (user_id, account_id) references accounts (user_id, id) on delete cascade
) {clustered};

create index streams_by_merchant on streams (user_id, account_id, merchant_key);

create table incomes (
    user_id {bytes} primary key references users (id) on delete cascade,
    generated_at {int} not null,
    analysis text not null
) {table};

-- One observation a day; the explanation is made with the numbers and kept with them.
create table scores (
    user_id {bytes} not null references users (id) on delete cascade,
    observed_on {int} not null,
    evenkeel {int} not null,
    recovery {int} not null,
    capacity {int} not null,
    baseline {int} not null,
    explanation text not null,
    primary key (user_id, observed_on)
) {clustered};

-- What the person said of a card: which product it is (empty: none of ours), and since when they have it.
create table cards (
    user_id {bytes} not null,
    account_id {bytes} not null,
    product text,
    opened_on {int},
    decided_at {int} not null,
    primary key (user_id, account_id),
    foreign key (user_id, account_id) references accounts (user_id, id) on delete cascade
) {clustered};

-- What the person said of a benefit where the bank cannot see it: `what` is used (so much in that cycle, or all of it
-- when nothing is said) or activated (from that cycle on).
create table benefit_marks (
    user_id {bytes} not null,
    account_id {bytes} not null,
    benefit text not null,
    what text not null,
    cycle_start_on {int} not null,
    used_minor {int},
    marked_at {int} not null,
    primary key (user_id, account_id, benefit, what, cycle_start_on),
    foreign key (user_id, account_id) references accounts (user_id, id) on delete cascade
) {clustered};

-- Cards whose product is known, and what they brought in this calendar year.
create table card_products (
    user_id {bytes} not null,
    account_id {bytes} not null,
    product text not null,
    annual_fee_minor {int} not null,
    captured_minor {int} not null,
    primary key (user_id, account_id),
    foreign key (user_id, account_id) references accounts (user_id, id) on delete cascade
) {clustered};

-- The present cycle of each benefit of each such card. `told_cycle_on` is the cycle whose end was announced.
create table benefits (
    user_id {bytes} not null,
    id {bytes} not null,
    account_id {bytes} not null,
    benefit text not null,
    cycle_start_on {int} not null,
    cycle_end_on {int} not null,
    expires_on {int} not null,
    total_minor {int} not null,
    used_minor {int} not null,
    status text not null,
    activated text not null,
    told_cycle_on {int},
    updated_at {int} not null,
    primary key (user_id, id),
    unique (user_id, account_id, benefit),
    foreign key (user_id, account_id) references accounts (user_id, id) on delete cascade
) {table};

-- How far the working out has come for each person, and what made it necessary again: a row here is work to do.
create table insights (
    user_id {bytes} primary key references users (id) on delete cascade,
    method {int} not null,
    computed_on {int} not null,
    computed_at {int} not null,
    scores_missing text
) {table};

-- `asked` counts the requests, so that one that comes while the work is under way is not taken for done.
create table insight_work (
    user_id {bytes} primary key references users (id) on delete cascade,
    asked {int} not null,
    everything_at {int},
    wanted_at {int} not null
) {table};

create table insight_changes (
    user_id {bytes} not null references users (id) on delete cascade,
    account_id {bytes} not null,
    merchant_key text not null,
    posted_on {int} not null,
    amount_minor {int} not null,
    primary key (user_id, account_id, merchant_key, posted_on, amount_minor)
) {clustered};

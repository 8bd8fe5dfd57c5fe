-- Proposals and decisions, and the paper accounts that approved trades are booked in.

-- The last price that the market told of a symbol. Nobody's in particular, so it has no user.
create table quotes (
    symbol text primary key,
    name text,
    kind text not null,
    price text not null,
    previous_close text,
    quoted_at {int} not null,
    fetched_at {int} not null,
    source text not null
) {table};

-- What the person asks of proposals; where a column is null, the operator's word or ours holds.
create table approval_policies (
    user_id {bytes} primary key references users (id) on delete cascade,
    life_seconds {int},
    passkey_from_minor {int},
    proposals_a_day {int},
    updated_at {int} not null
) {table};

-- `payload` is what is to be done and `details` what the person is shown; both are written once, and `digest` is of both.
-- `seen_price` is the price on the page where it was approved. `due_at` is when an approved trade may be filled, and
-- `reserved_minor` the cash that is put aside until then. `inverse` is what takes an executed one back.
create table actions (
    user_id {bytes} not null references users (id) on delete cascade,
    id {bytes} not null,
    thread_id {bytes} not null,
    action_type text not null,
    kind text not null,
    status text not null,
    payload text not null,
    details text not null,
    description text,
    reason text,
    account_id {bytes},
    amount_minor {int},
    digest {bytes} not null,
    proposer text not null,
    proposer_id {bytes} not null,
    proposer_label text not null,
    created_at {int} not null,
    updated_at {int} not null,
    expires_at {int} not null,
    decided_at {int},
    decision_method text,
    rejection_reason text,
    seen_price text,
    due_at {int},
    reserved_minor {int},
    executed_at {int},
    error_code text,
    error_message text,
    result text,
    inverse text,
    undone_at {int},
    primary key (user_id, id),
    unique (user_id, thread_id)
) {table};

create index actions_by_status on actions (user_id, status, id);
create index actions_by_update on actions (user_id, updated_at);
create index actions_due on actions (status, due_at);
create index actions_by_proposer on actions (user_id, proposer_id, created_at);

-- `cash_minor` is free, `reserved_minor` put aside for orders that wait; both follow from the ledger, as all figures here do.
create table paper_accounts (
    user_id {bytes} not null references users (id) on delete cascade,
    id {bytes} not null,
    name text not null,
    status text not null,
    currency text not null,
    deposited_minor {int} not null,
    cash_minor {int} not null,
    reserved_minor {int} not null,
    realised_minor {int} not null,
    dividends_minor {int} not null,
    entry_count {int} not null,
    trade_count {int} not null,
    created_at {int} not null,
    updated_at {int} not null,
    primary key (user_id, id)
) {table};

create table paper_positions (
    user_id {bytes} not null,
    account_id {bytes} not null,
    symbol text not null,
    id {bytes} not null,
    security_id {bytes} not null,
    name text,
    kind text not null,
    quantity text not null,
    basis_minor {int} not null,
    updated_at {int} not null,
    primary key (user_id, account_id, symbol),
    foreign key (user_id, account_id) references paper_accounts (user_id, id) on delete cascade
) {table};

-- The journal, which only grows. `cause` is what an entry follows from (an action, a dividend of a day), so that nothing
-- is booked twice. `amount_minor` is what cash gained or lost.
create table paper_entries (
    user_id {bytes} not null,
    account_id {bytes} not null,
    number {int} not null,
    id {bytes} not null,
    kind text not null,
    cause text not null,
    symbol text,
    name text,
    quantity text,
    price text,
    amount_minor {int} not null,
    realised_minor {int} not null,
    booked_at {int} not null,
    primary key (user_id, account_id, number),
    unique (user_id, account_id, cause),
    foreign key (user_id, account_id) references paper_accounts (user_id, id) on delete cascade
) {clustered};

create index paper_entries_by_symbol on paper_entries (user_id, account_id, symbol, booked_at);

-- The legs of an entry add up to nothing in each unit: cents, or billionths of a share of the symbol.
create table paper_legs (
    user_id {bytes} not null,
    account_id {bytes} not null,
    number {int} not null,
    leg {int} not null,
    book text not null,
    symbol text,
    amount text not null,
    primary key (user_id, account_id, number, leg),
    foreign key (user_id, account_id) references paper_accounts (user_id, id) on delete cascade
) {clustered};

-- What companies did to their shares, as the market told it; when each account got it, its journal says.
create table corporate_actions (
    symbol text not null,
    kind text not null,
    ex_on {int} not null,
    terms text not null,
    pay_on {int} not null,
    told_at {int} not null,
    primary key (symbol, kind, ex_on)
) {table};

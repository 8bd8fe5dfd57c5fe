-- Views for reading the database with psql, sqlite3 or a report tool: text ids as in the API, dates, decimal amounts.
-- They are not migrations: the program creates them after the migrations, and again whenever this file changes.
-- The first line of each view is its description in the view `evenkeel_views`. Words in braces are replaced by the
-- engine's expression (crates/db/src/views.rs). Removed and hidden transactions are left out; hidden accounts are marked.

-- Every person of this installation. Days and months of a person are those of the time zone.
create view people_view as
select {id usr_ u.id} as user_id, u.email, u.preferred_name, u.base_currency, u.timezone,
    {time u.created_at} as created_at
from users u;

-- Every account with its newest balance. A balance of a card or loan is what is owed.
create view accounts_view as
select {id usr_ a.user_id} as user_id, {id acc_ a.id} as account_id, coalesce(a.own_name, a.name) as account_name,
    a.kind as type, a.subtype, a.mask, a.institution_name, a.currency,
    {money a.balance_current_minor a.currency} as balance_current,
    {money a.balance_available_minor a.currency} as balance_available,
    {money a.balance_limit_minor a.currency} as balance_limit,
    {time a.balance_as_of} as balance_as_of,
    {flag a.hidden_at is not null} as is_hidden,
    {date coalesce(a.closed_on, a.own_closed_on)} as closed_on,
    {time a.created_at} as created_at, {time a.updated_at} as updated_at
from accounts a;

-- Every balance that a source reported, one row for an account and day.
create view balances_view as
select {id usr_ b.user_id} as user_id, {id acc_ b.account_id} as account_id,
    coalesce(a.own_name, a.name) as account_name, {date b.reported_on} as date, a.currency,
    {money b.current_minor a.currency} as balance_current,
    {money b.available_minor a.currency} as balance_available,
    {money b.limit_minor a.currency} as balance_limit,
    {flag a.hidden_at is not null} as is_hidden
from balances b join accounts a on a.user_id = b.user_id and a.id = b.account_id;

-- Every transaction with its account. Money out is negative. Sums of amount_minor are exact.
create view transactions_view as
select {id usr_ t.user_id} as user_id, {id txn_ t.id} as transaction_id, {id acc_ t.account_id} as account_id,
    coalesce(a.own_name, a.name) as account_name, {date t.posted_on} as date_posted,
    {date t.authorized_on} as date_authorized, {flag t.state = 'pending'} as pending,
    {money t.amount_minor t.currency} as amount, t.amount_minor, t.currency, t.description,
    t.counterparty as counterparty_name, {primary t.category} as category_tier1, t.category as category_tier2,
    {flag t.transfer_id is not null} as is_transfer, t.note, trim(t.tags) as tags, {flag a.hidden_at is not null} as is_hidden,
    {time t.created_at} as created_at, {time t.updated_at} as updated_at
from transactions t join accounts a on a.user_id = t.user_id and a.id = t.account_id
where t.state in ('pending', 'posted');

-- Every transaction, or each part of one that was split over categories. Sums by category read this view.
create view transaction_parts_view as
with {lines transactions splits split_minor = amount_minor}, parts as (
    select user_id, id, part, cast(substr(line, 1, {find 9 line} - 1) as bigint) as amount_minor,
        substr(line, {find 9 line} + 1, {find 31 line} - {find 9 line} - 1) as category,
        nullif(substr(line, {find 31 line} + 1), '') as note
    from lines
)
select {id usr_ t.user_id} as user_id, {id txn_ t.id} as transaction_id, p.part, {id acc_ t.account_id} as account_id,
    coalesce(a.own_name, a.name) as account_name, {date t.posted_on} as date_posted,
    {flag t.state = 'pending'} as pending,
    {money coalesce(p.amount_minor,t.amount_minor) t.currency} as amount,
    coalesce(p.amount_minor, t.amount_minor) as amount_minor, t.currency, t.description,
    t.counterparty as counterparty_name, {primary coalesce(p.category, t.category)} as category_tier1,
    coalesce(p.category, t.category) as category_tier2, {flag t.transfer_id is not null} as is_transfer,
    p.note as part_note, trim(t.tags) as tags, {flag a.hidden_at is not null} as is_hidden
from transactions t join accounts a on a.user_id = t.user_id and a.id = t.account_id
left join parts p on p.user_id = t.user_id and p.id = t.id
where t.state in ('pending', 'posted');

-- Every holding of the linked investment accounts.
create view holdings_view as
select {id usr_ h.user_id} as user_id, {id hld_ h.id} as holding_id, {id acc_ h.account_id} as account_id,
    coalesce(a.own_name, a.name) as account_name, s.symbol, s.name as security_name, s.kind as security_type,
    s.asset_class, s.currency, {decimal h.quantity} as quantity, {decimal s.price} as price,
    {time s.priced_at} as priced_at, {money h.cost_basis_minor s.currency} as cost_basis,
    {money h.institution_value_minor s.currency} as institution_value, {flag a.hidden_at is not null} as is_hidden
from holdings h
join accounts a on a.user_id = h.user_id and a.id = h.account_id
join securities s on s.user_id = h.user_id and s.id = h.security_id;

-- Every goal with its target. Progress is calculated: see GET /v1/goals.
create view goals_view as
select {id usr_ g.user_id} as user_id, {id goal_ g.id} as goal_id, g.name, g.goal_type, g.status, g.currency,
    {money g.target_minor g.currency} as target_amount, {date g.target_on} as target_date,
    {time g.created_at} as created_at
from goals g;

-- Every recurring payment or income that was not dismissed. Amounts are positive; the direction says which way the money goes.
create view recurring_view as
select {id usr_ r.user_id} as user_id, {id rec_ r.id} as recurring_id, {id acc_ r.account_id} as account_id,
    coalesce(a.own_name, a.name) as account_name, r.name, r.counterparty as counterparty_name,
    r.direction as cash_flow_direction, r.stream_type, {primary r.category} as category_tier1,
    r.category as category_tier2, r.frequency, r.status, r.currency,
    {money r.average_minor r.currency} as average_amount, {money r.last_minor r.currency} as last_amount,
    {money r.monthly_minor r.currency} as monthly_amount, {date r.first_on} as first_date,
    {date r.last_on} as last_date, {date r.next_expected_on} as next_expected_date,
    {flag a.hidden_at is not null} as is_hidden
from streams r join accounts a on a.user_id = r.user_id and a.id = r.account_id
where r.dismissed_at is null;

-- The scores of every day on which they were calculated.
create view scores_view as
select {id usr_ s.user_id} as user_id, {date s.observed_on} as date, s.evenkeel, s.recovery, s.capacity, s.baseline
from scores s;

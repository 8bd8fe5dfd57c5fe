{works with 28}
-- The person's own choice whether lists show a transaction (hidden or shown), and whether it is a transfer (transfer or
-- no_transfer). Null leaves both to rules and to pairing.
alter table transaction_fixes add column visibility text;
alter table transaction_fixes add column transfer text;

-- Changes of many transactions at once, so that they can be undone. `fields` names what was changed, separated by spaces.
create table bulk_edits (
    user_id {bytes} not null references users (id) on delete cascade,
    id {bytes} not null,
    edited_at {int} not null,
    summary text not null,
    fields text not null,
    row_count {int} not null,
    undone_at {int},
    primary key (user_id, id)
) {clustered};

-- Each transaction of an edit as it was before and after, as JSON.
create table bulk_edit_rows (
    user_id {bytes} not null,
    edit_id {bytes} not null,
    transaction_id {bytes} not null,
    old_values text not null,
    new_values text not null,
    primary key (user_id, edit_id, transaction_id),
    foreign key (user_id, edit_id) references bulk_edits (user_id, id) on delete cascade
) {clustered};

{works with 31}
-- Pictures and documents of a transaction, such as a receipt. They go with the transaction.
create table attachments (
    user_id {bytes} not null references users (id) on delete cascade,
    id {bytes} not null,
    transaction_id {bytes} not null,
    name text not null,
    media_type text not null,
    byte_count {int} not null,
    created_at {int} not null,
    primary key (user_id, id),
    foreign key (user_id, transaction_id) references transactions (user_id, id) on delete cascade
) {clustered};

create index attachments_by_transaction on attachments (user_id, transaction_id);

-- Their bytes, in parts of 1 MiB.
create table attachment_parts (
    user_id {bytes} not null,
    attachment_id {bytes} not null,
    part {int} not null,
    content {bytes} not null,
    primary key (user_id, attachment_id, part),
    foreign key (user_id, attachment_id) references attachments (user_id, id) on delete cascade
) {table};

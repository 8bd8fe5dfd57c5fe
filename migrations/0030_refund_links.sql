{works with 29}
-- Refunds that the person linked to the purchase that they refund. They count in the category of the purchase.
create table refund_links (
    user_id {bytes} not null references users (id) on delete cascade,
    refund_id {bytes} not null,
    purchase_id {bytes} not null,
    linked_at {int} not null,
    primary key (user_id, refund_id)
) {clustered};

create index refund_links_by_purchase on refund_links (user_id, purchase_id);

-- Instruments: the same security in several accounts, linked or paper, has one id. Securities with a symbol are the same
-- instrument if their symbol (in capitals), currency and class are. Bonds and derivatives are none: their symbol is often
-- that of the issuer. A restore of an older backup repeats the statements below (crates/service/src/backup/upgrade.rs).
create table instruments (
    user_id {bytes} not null references users (id) on delete cascade,
    symbol text not null,
    currency text not null,
    class text not null,
    id {bytes} not null,
    primary key (user_id, symbol, currency, class),
    unique (user_id, id)
) {table};

-- The oldest security gives the instrument its id.
insert into instruments (user_id, symbol, currency, class, id)
    select s.user_id, upper(trim(s.symbol)), s.currency, case s.kind when 'cryptocurrency' then 'cryptocurrency'
        when 'cash' then 'cash' else 'listed' end, s.id
    from securities s where trim(s.symbol) <> '' and s.kind not in ('fixed_income', 'derivative')
    order by s.user_id, s.id on conflict do nothing;

insert into instruments (user_id, symbol, currency, class, id)
    select p.user_id, p.symbol, 'USD', 'listed', p.security_id from paper_positions p
    where p.symbol <> '' order by p.user_id, p.account_id on conflict do nothing;

update paper_positions set security_id = (select i.id from instruments i
    where i.user_id = paper_positions.user_id and i.symbol = paper_positions.symbol
    and i.currency = 'USD' and i.class = 'listed')
    where exists (select 1 from instruments i where i.user_id = paper_positions.user_id
    and i.symbol = paper_positions.symbol and i.currency = 'USD' and i.class = 'listed');

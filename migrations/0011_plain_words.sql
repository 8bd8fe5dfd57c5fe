-- Plain words: the role that may invite others is called admin, no longer keeper. A restore of an older backup repeats
-- this change (crates/service/src/backup/upgrade.rs).
update users set role = 'admin' where role = 'keeper';

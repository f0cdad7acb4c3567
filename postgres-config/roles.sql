-- Run by psql as the superuser, once, when the cluster is new. Each role owns its databases and sees no other's.
\set migration `cat /run/secrets/migration_db_password`
\set agentpay `cat /run/secrets/agentpay_db_password`
\set temporal `cat /run/secrets/temporal_db_password`

-- Owns the database and the schema in it: only `migrate` logs in as it.
create role agentpay_migration login password :'migration';
-- As which the programs log in, and as which they work: these own nothing, cannot change the schema, and cannot change
-- what ledger and journal have written.
create role agentpay login password :'agentpay';
create role agentpay_application nologin;
grant agentpay_application to agentpay, agentpay_migration;
create role temporal login password :'temporal';

create database agentpay owner agentpay_migration;
create database temporal owner temporal;
create database temporal_visibility owner temporal;

revoke connect on database agentpay, temporal, temporal_visibility from public;
grant connect on database agentpay to agentpay;

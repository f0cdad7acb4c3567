-- For a cluster whose role `agentpay` owns the schema, as it did before `migrate` had a login of its own. Run it once, as
-- the superuser, in the database `agentpay`, and before this version's `migrate`:
--
--   docker compose exec -T postgres psql -U postgres -d agentpay < postgres-config/own-migration-login.sql
\set migration `cat /run/secrets/migration_db_password`

create role agentpay_migration login password :'migration';
grant agentpay_application to agentpay_migration;
-- The database, the tables and the functions.
reassign owned by agentpay to agentpay_migration;
-- What `agentpay` has arranged for the tables that it would still have made.
alter default privileges for role agentpay_migration in schema public
  grant select, insert, update, delete on tables to agentpay_application;
alter default privileges for role agentpay_migration in schema public
  grant usage on sequences to agentpay_application;
grant connect on database agentpay to agentpay;

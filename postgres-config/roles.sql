-- Run by psql as the superuser, once, when the cluster is new. Each role owns its databases and sees no other's.
\getenv agentpay AGENTPAY_DB_PASSWORD
\getenv temporal TEMPORAL_DB_PASSWORD

create role agentpay login password :'agentpay';
-- As which the programs work: it owns nothing, and cannot change what ledger and journal have written.
create role agentpay_application nologin;
grant agentpay_application to agentpay;
create role temporal login password :'temporal';

create database agentpay owner agentpay;
create database temporal owner temporal;
create database temporal_visibility owner temporal;

revoke connect on database agentpay, temporal, temporal_visibility from public;

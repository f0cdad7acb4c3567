-- Area: control. The methods by which an agent makes machine payments, the preferred one first; empty is the default.
alter table policies add column mpp_methods text[] not null default '{}' check (mpp_methods <@ array['card', 'stripe']);

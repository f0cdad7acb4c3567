import { Migration } from '@mikro-orm/migrations'

/**
 * The role as which the programs work. It owns nothing: what the journal and the ledger have written it can read and
 * not change, whatever our own code tries.
 */
export class ApplicationRole extends Migration {
  override up(): void {
    this.addSql(`
      do $$
      begin
        if to_regrole('agentpay_application') is null then
          create role agentpay_application nologin;
        end if;
      exception
        when duplicate_object or unique_violation then null;
        when insufficient_privilege then
          raise exception 'The role agentpay_application is missing, and % may not create it.', current_user
            using hint = format('As an administrator: create role agentpay_application nologin; grant agentpay_application to %I;', current_user);
      end $$;
      do $$
      begin
        if not pg_has_role(current_user, 'agentpay_application', 'set') then
          execute format('grant agentpay_application to %I', current_user);
        end if;
      end $$;

      grant usage on schema public to agentpay_application;
      alter default privileges in schema public grant select, insert, update, delete on tables to agentpay_application;
      alter default privileges in schema public grant usage on sequences to agentpay_application;
      grant select, insert, update, delete on all tables in schema public to agentpay_application;
      grant usage on all sequences in schema public to agentpay_application;
      revoke update, delete on events, audit_entries from agentpay_application;
    `)
  }
}

import { Migration } from '@mikro-orm/migrations'

/**
 * A deletion keeps how far it has read, so that no statement reads a whole tenant. It can be done again after a backup was
 * restored. A merchant's contact is a subject, too. Who has suspended an account is kept with it.
 */
export class DeletionsByPlace extends Migration {
  override up(): void {
    this.addSql(`
      alter table gdpr_deletions
        -- Up to where tables and trail have been read: see forget_next.
        add column place jsonb not null default '{}' check (jsonb_typeof(place) = 'object'),
        -- When it was completed before a backup was restored: the years of the law run from then.
        add column first_completed_at timestamptz(3),
        drop constraint gdpr_deletions_subject_type_check,
        add constraint gdpr_deletions_subject_type_check
          check (subject_type in ('owner', 'person', 'beneficiary', 'payer', 'merchant'));
      alter table gdpr_exports
        drop constraint gdpr_exports_subject_type_check,
        add constraint gdpr_exports_subject_type_check
          check (subject_type in ('owner', 'person', 'beneficiary', 'payer', 'merchant'));
      -- For the operator, who reads them across all owners.
      create unique index gdpr_deletions_by_id on gdpr_deletions (id);

      -- What is about a payee is found without reading all intents.
      create index intents_by_beneficiary on intents (owner_id, mode, beneficiary_id, id) where beneficiary_id is not null;

      -- By a deletion that may yet find something in its way, or for good.
      alter table customers add column suspended_by text check (suspended_by in ('operator', 'deletion', 'forgotten'));
      update customers c set suspended_by = coalesce((
        select case d.status when 'ending' then 'deletion' else 'forgotten' end from gdpr_deletions d
        where d.owner_id = c.id and d.subject_type = 'owner' and d.status in ('ending', 'forgetting', 'completed')
        order by 1 desc limit 1), 'operator')
      where c.status = 'suspended';
      alter table customers add check (suspended_by is null or status = 'suspended');

      drop function if exists forget_personal(text, text, text, timestamptz, integer),
        forget_columns(gdpr_deletions, text, timestamptz, integer), forget_events(gdpr_deletions, integer);
      delete from applied_functions where name = 'forget_personal';
    `)
  }
}

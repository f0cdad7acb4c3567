import { Migration } from '@mikro-orm/migrations'

/** Intents that are paid by the rails of the service itself. */
export class PaidIntents extends Migration {
  override up(): void {
    this.addSql(`
      alter table intents
        add column payment_id text check (payment_id is null or status = 'approved'),
        add check ((status = 'completed') = (transaction_id is not null)),
        add foreign key (owner_id, mode, wallet_id) references wallets (owner_id, mode, id)
          deferrable initially deferred,
        add foreign key (owner_id, mode, beneficiary_id) references beneficiaries (owner_id, mode, id)
          deferrable initially deferred,
        add foreign key (owner_id, mode, transaction_id) references transactions (owner_id, mode, id)
          deferrable initially deferred;
      alter table transfers
        add foreign key (owner_id, mode, intent_id) references intents (owner_id, mode, id)
          deferrable initially deferred;
      create unique index transfers_of_intent on transfers (owner_id, mode, intent_id)
        where intent_id is not null and status not in ('cancelled');
    `)
  }
}

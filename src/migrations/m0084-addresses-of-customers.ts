import { Migration } from '@mikro-orm/migrations'

/** Address and phone number of a customer, without which a real processor issues no card. */
export class AddressesOfCustomers extends Migration {
  override up(): void {
    this.addSql(`
      alter table customers
        add column phone text check (phone ~ '^[+][1-9][0-9]{6,14}$'),
        add column address jsonb check (
          address is null or jsonb_typeof(address) = 'object'
          and coalesce(address->>'line1', '') <> ''
          and coalesce(address->>'city', '') <> ''
          and coalesce(address->>'postalCode', '') <> ''
          and coalesce(address->>'country', '') ~ '^[A-Z]{2}$'
        );
    `)
  }
}

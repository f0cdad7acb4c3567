import type { TestService } from '../harness.ts'

/** Prevents this owner from posting incoming credits of other owners during the work. */
export async function withoutArrivals(
  { sql }: Pick<TestService, 'sql'>,
  ownerId: string,
  work: () => Promise<void>,
): Promise<void> {
  await sql(`
    create function refuse_arrival() returns trigger language plpgsql as $$
    begin if new.owner_id = '${ownerId}' then raise exception 'it cannot be booked'; end if; return new; end $$;
    create trigger refuse before insert on incoming_credits for each row execute function refuse_arrival()`)
  try {
    await work()
  } finally {
    await sql('drop function refuse_arrival cascade')
  }
}

import { until } from '../../until.ts'
import type { Programs } from './programs.ts'
import type { Step } from './steps.ts'

export interface Hold {
  /** Waits until all steps were held. */
  untilHeld(): Promise<void>
  /** Ends the transactions that are held, and holds no longer. */
  release(): Promise<void>
}

const HELD = `from pg_stat_activity
where datname = current_database() and application_name like 'held at %' and wait_event = 'PgSleep'`

/** Less than the transactions are held, since all must be held at one time. */
const HELD_MS = 150_000

/** From now on the transactions that take these steps are held at the write that records it. */
export async function holdAt({ sql }: Pick<Programs, 'sql'>, steps: readonly Step[]): Promise<Hold> {
  const triggers = new Map(steps.map(({ activity, written }) => [activity, written]))
  // The statement's own time limit, which cancels it once, is shorter.
  await sql(`
    create function is_of_deleted_agent(of_card text) returns boolean language sql as $$
      select exists (
        select from cards c join agents a on (a.owner_id, a.mode, a.id) = (c.owner_id, c.mode, c.agent_id)
        where c.id = of_card and a.status = 'deleting')
    $$;
    create function wait_at_step() returns trigger language plpgsql as $$
    begin
      perform set_config('application_name', 'held at ' || tg_argv[0], false);
      begin
        perform pg_sleep(60);
      exception when query_canceled then
        perform pg_sleep(180);
      end;
      return new;
    end $$;
    ${[...triggers].map(([name, written]) => `create trigger "wait_at_${name}" ${written} execute function wait_at_step('${name}');`).join('\n')}`)
  const expected = steps.map(({ activity }) => `held at ${activity}`)
  return {
    async untilHeld() {
      let missing: readonly string[] = expected
      const isHeld = async () => {
        const rows = await sql<{ name: string }>(`select application_name as name ${HELD}`)
        const held = rows.map(({ name }) => name)
        missing = expected.filter(name => countOf(held, name) < countOf(expected, name))
        return missing.length === 0
      }
      await until('all are held', isHeld, HELD_MS).catch(() => {
        throw new Error(`Timed out: not held: ${missing}`)
      })
    },
    async release() {
      // What was sent already would be carried out, although no client waits for the answer.
      await sql(`select pg_terminate_backend(pid, 60000) ${HELD}`)
      await sql('drop function wait_at_step, is_of_deleted_agent cascade')
    },
  }
}

const countOf = (names: readonly string[], wanted: string): number =>
  names.filter(name => name === wanted).length

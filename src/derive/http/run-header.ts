import type { Actor, RequestRun } from '../../kernel/contract/actor.ts'
import type { Areas, FoundRun, NamedRun } from '../../kernel/contract/area.ts'
import { Problem } from '../../kernel/contract/problem.ts'
import { batcher } from '../../kernel/database/batcher.ts'
import { type Database, sqlOn } from '../../kernel/database/prepared-sql.ts'
import { databaseErrorAsProblem } from '../../kernel/database/retry.ts'

/** Throws a Problem if the caller has no such run. */
export type FindNamedRun = (header: string | undefined, actor: Actor) => Promise<RequestRun | undefined>

export function createRunLookup(areas: Areas, database: Database): FindNamedRun {
  const sql = sqlOn(database.pool)
  const findRuns = Object.values(areas).find(area => area.findRuns)?.findRuns
  const lookUp = batcher<NamedRun, FoundRun | undefined>({ size: 256, inFlight: 2 }, async named => {
    const found = new Map((await findRuns?.(named, sql))?.map(run => [keyOf(run), run]))
    return named.map(run => ({ status: 'fulfilled', value: found.get(keyOf(run)) }))
  })
  return async (header, actor) => {
    // A caller without a tenant has no runs. Its header is ignored, as programs may send it with every
    // request.
    if (header === undefined || !actor.tenant) return undefined
    const { ownerId, mode } = actor.tenant
    const run = await lookUp('', { ownerId, mode, id: header.slice(0, 128) }).catch((error: unknown) => {
      throw databaseErrorAsProblem(error)
    })
    if (run && (actor.agentId === null || actor.agentId === run.agentId)) return run
    throw new Problem('invalid_run', 'X-Run-Id: you have no such run.')
  }
}

const keyOf = ({ ownerId, mode, id }: NamedRun): string => `${ownerId} ${mode} ${id}`

import type { EntityManager } from '@mikro-orm/postgresql'
import { type Change, changesBetween } from './changes.ts'
import { PolicyVersion } from './policy.ts'

/** Versions of one policy, the newest first, each with what is different from the one before. */
export async function withChanges(
  em: EntityManager,
  versions: readonly PolicyVersion[],
): Promise<(PolicyVersion & { changes: Change[] })[]> {
  const oldest = versions.at(-1)
  const { policyId, version } = oldest ?? { policyId: '', version: 1 }
  // Of a page the last one came from a version that is on the next.
  const before = version > 1 ? await em.findOne(PolicyVersion, { policyId, version: version - 1 }) : null
  return versions.map((one, index) => {
    const previous = versions[index + 1] ?? before
    return { ...one, changes: previous ? changesBetween(previous.rules, one.rules) : [] }
  })
}

import type { Records } from '../../kernel/contract/records.ts'
import { type Change, changesBetween } from './changes.ts'
import { PolicyVersion } from './policy.ts'

/** Adds to each version what it changed. The versions are a page of one policy, newest first. */
export async function withChanges(
  records: Records,
  versions: readonly PolicyVersion[],
): Promise<(PolicyVersion & { changes: Change[] })[]> {
  const oldest = versions.at(-1)
  const { policyId, version: number } = oldest ?? { policyId: '', version: 1 }
  // The oldest version of the page is compared with one that is on the next page.
  const beforeOldest =
    number > 1 ? await records.findOne(PolicyVersion, { policyId, version: number - 1 }) : null
  return versions.map((version, index) => {
    const previous = versions[index + 1] ?? beforeOldest
    return { ...version, changes: previous ? changesBetween(previous.rules, version.rules) : [] }
  })
}

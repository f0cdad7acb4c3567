import { isDeepStrictEqual } from 'node:util'
import type { EntityManager } from '../../kernel/contract/entity-manager.ts'
import { jsonName } from '../../values/json-names.ts'
import {
  joinFirstTen,
  type PolicyRules,
  policyRuleInWords,
  policyRuleNames,
  policyRuleTitle,
} from '../rules/index.ts'
import { PolicyVersion } from './policy.ts'

type StoredRules = Readonly<Record<string, unknown>>

interface Change {
  readonly field: string
  readonly from: unknown
  readonly to: unknown
  readonly text: string
}

function onlyIn(names: readonly unknown[], others: readonly unknown[]): string[] {
  const known = new Set(others)
  return names.filter(name => !known.has(name)).map(String)
}

function listChange(from: readonly unknown[], to: readonly unknown[]): string | undefined {
  const added = onlyIn(to, from)
  const removed = onlyIn(from, to)
  const parts = [
    ...(added.length > 0 ? [`added ${joinFirstTen(added)}`] : []),
    ...(removed.length > 0 ? [`removed ${joinFirstTen(removed)}`] : []),
  ]
  return parts.length > 0 ? parts.join('; ') : undefined
}

function changeInWords(rule: keyof PolicyRules, from: unknown, to: unknown): string | undefined {
  if (Array.isArray(from) || Array.isArray(to)) {
    const [before, after] = [listOf(from), listOf(to)]
    if (!isReadWhole(rule)) return listChange(before, after)
    if (isDeepStrictEqual(before, after)) return undefined
    return `${policyRuleInWords(rule, before)} → ${policyRuleInWords(rule, after)}`
  }
  return from === to ? undefined : `${policyRuleInWords(rule, from)} → ${policyRuleInWords(rule, to)}`
}

/** Rules whose entries are no names, or whose order counts. */
const isReadWhole = (rule: keyof PolicyRules): boolean => rule === 'mppMethods' || rule === 'approval'

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** Compares rule by rule. A rule that is younger than a version counts as unset in it. */
export const policyChangesBetween = (before: StoredRules, after: StoredRules): Change[] =>
  policyRuleNames.flatMap(rule => {
    const field = jsonName(rule)
    const from = before[field] ?? null
    const to = after[field] ?? null
    const words = changeInWords(rule, from, to)
    return words === undefined ? [] : [{ field, from, to, text: `${policyRuleTitle(rule)}: ${words}` }]
  })

export async function withPolicyChanges(
  em: EntityManager,
  versions: readonly PolicyVersion[],
): Promise<(PolicyVersion & { changes: Change[] })[]> {
  const oldest = versions.at(-1)
  const { policyId, version: number } = oldest ?? { policyId: '', version: 1 }
  // The oldest version of the page is compared with one on the next page.
  const beforeOldest = number > 1 ? await em.findOne(PolicyVersion, { policyId, version: number - 1 }) : null
  return versions.map((version, index) => {
    const previous = versions[index + 1] ?? beforeOldest
    return { ...version, changes: previous ? policyChangesBetween(previous.rules, version.rules) : [] }
  })
}

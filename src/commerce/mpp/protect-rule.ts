import { defineEntity, p } from '@mikro-orm/core'
import { hostInText, patternProblem } from '../../control/merchants/index.ts'
import { nullable, recordColumns, tenantTable } from '../../kernel/database/entity.ts'
import { personal, plain } from '../../kernel/database/personal.ts'
import { canonicalHost, isIpAddress, isSharedDomain } from './hosts.ts'

export const protectRuleTypes = ['allow', 'deny'] as const

const schema = defineEntity({
  ...tenantTable('ProtectRule', 'mpp_protect_rules'),
  properties: {
    ...recordColumns('protectrule'),
    type: plain(p.enum(protectRuleTypes)),
    merchant: personal(p.text(), 'payment', 'contract', 'word'),
    /** The normalized form: `shop.example.com`, `*.example.com` or `https://shop.example.com:8443`. */
    pattern: personal(p.text(), 'payment', 'contract', 'pseudonym'),
    agentId: nullable.string(),
    reason: personal(nullable.string(), 'words', 'contract', 'word'),
  },
})

export class ProtectRule extends schema.class {}
schema.setClass(ProtectRule)

export const MAX_PROTECT_RULES = 1_000

type Pattern = { readonly pattern: string } | { readonly problem: string }

const WILDCARD = /^\*\.(.+)$/

export function parseProtectPattern(text: string): Pattern {
  const trimmed = text.trim()
  if (/^https?:/i.test(trimmed)) return originPattern(trimmed)
  const domain = WILDCARD.exec(trimmed)?.[1]
  return domain === undefined ? hostPattern(trimmed) : wildcardPattern(domain)
}

function originPattern(text: string): Pattern {
  const url = URL.parse(text)
  if (!url?.hostname) return { problem: 'is not an address; write an origin as in https://shop.example.com' }
  const isWhole = url.pathname !== '/' || url.search !== '' || url.hash !== '' || url.username !== ''
  return isWhole
    ? { problem: `is more than an origin; write ${url.origin}` }
    : { pattern: `${url.protocol}//${canonicalHost(url)}${url.port === '' ? '' : `:${url.port}`}` }
}

function wildcardPattern(text: string): Pattern {
  const domain = hostInText(text)
  if (domain === undefined || /[/:?#\\*]/.test(text))
    return { problem: 'is no domain with an asterisk before it; write it as in *.example.com' }
  return isSharedDomain(domain)
    ? { problem: patternProblem(`*.${domain}`) ?? 'stands for hosts of many owners; name the host' }
    : { pattern: `*.${domain}` }
}

function hostPattern(text: string): Pattern {
  const url = /[/?#\\@\s*]/.test(text) ? null : URL.parse(`https://${text}`)
  if (!url?.hostname)
    return {
      problem: 'is not a host; write one as in shop.example.com, *.example.com or https://shop.example.com',
    }
  if (url.port !== '')
    return { problem: `names a port; write the origin, as in https://${url.hostname}:${url.port}` }
  const host = canonicalHost(url)
  // A number would be read as an address, which an owner should not allow by accident.
  const isLiteral = !isIpAddress(host) || text.toLowerCase().includes(url.hostname)
  return isLiteral
    ? { pattern: host }
    : { problem: `is read as the address ${host}; write that, or the host` }
}

function patternsFor(url: URL): ReadonlySet<string> {
  const host = canonicalHost(url)
  const patterns = new Set([`${url.protocol}//${host}${url.port === '' ? '' : `:${url.port}`}`, host])
  if (isIpAddress(host)) return patterns
  for (let dot = host.indexOf('.'); dot >= 0; dot = host.indexOf('.', dot + 1))
    patterns.add(`*.${host.slice(dot + 1)}`)
  return patterns
}

export type ProtectRuleEntry = Pick<ProtectRule, 'id' | 'type' | 'pattern' | 'agentId'>

interface Protection {
  readonly deniedBy: string | null
  readonly isAllowed: boolean
  readonly hasAllowRules: boolean
}

/** Deny takes precedence over allow; with any allow rule, only allowed addresses are paid. */
export function hostProtection(url: URL, agentId: string, rules: readonly ProtectRuleEntry[]): Protection {
  const patterns = patternsFor(url)
  const own = rules.filter(rule => rule.agentId === null || rule.agentId === agentId)
  const matching = own.filter(({ pattern }) => patterns.has(pattern))
  return {
    deniedBy: matching.find(({ type }) => type === 'deny')?.id ?? null,
    isAllowed: matching.some(({ type }) => type === 'allow'),
    hasAllowRules: own.some(({ type }) => type === 'allow'),
  }
}

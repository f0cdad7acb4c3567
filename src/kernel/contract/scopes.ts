import { z } from 'zod'
import { keysOf } from '../../values/collections.ts'

/**
 * Every scope of a credential, and whether an agent's token has it: `given` by default, only when `asked` for
 * by name, or `never`. A test compares this list with the scopes that contracts require.
 */
const rights = {
  'access-events:read': 'given',
  'agents:read': 'given',
  'agents:write': 'never',
  'audit:read': 'never',
  'beneficiaries:read': 'never',
  'beneficiaries:write': 'never',
  'billing:read': 'never',
  'billing:write': 'never',
  'canvas:apply': 'never',
  'canvas:read': 'given',
  'canvas:write': 'given',
  'card-requests:approve': 'never',
  'card-requests:read': 'given',
  'card-requests:write': 'given',
  'cards:read': 'given',
  'cards:reveal': 'asked',
  'cards:write': 'never',
  'channels:read': 'never',
  'channels:write': 'never',
  'checkout:read': 'given',
  'checkout:write': 'given',
  'collect:read': 'given',
  'collect:write': 'asked',
  'console:read': 'never',
  'console:sign-out': 'never',
  'console:write': 'never',
  'credentials:read': 'given',
  'credentials:write': 'given',
  'customers:read': 'never',
  'customers:write': 'never',
  'delegations:read': 'given',
  'delegations:write': 'never',
  'disputes:read': 'given',
  'disputes:write': 'given',
  'events:read': 'given',
  'evidence:read': 'given',
  'evidence:write': 'given',
  'gdpr-archives:read': 'never',
  'gdpr:read': 'never',
  'gdpr:write': 'never',
  'insight:read': 'given',
  'intents:approve': 'never',
  'intents:read': 'given',
  'intents:write': 'given',
  'keys:read': 'never',
  'keys:write': 'never',
  'kyc:read': 'never',
  'kyc:write': 'never',
  'ledger:read': 'never',
  'mandates:read': 'given',
  'mandates:write': 'never',
  'merchants:read': 'given',
  'mpp:pay': 'given',
  'mpp:protect': 'never',
  'mpp:read': 'given',
  'mpp:resolve': 'never',
  'onboarding:read': 'never',
  'onboarding:write': 'never',
  'outcomes:read': 'given',
  'outcomes:write': 'given',
  'passkeys:read': 'never',
  'passkeys:write': 'never',
  'payment-tokens:read': 'given',
  'payment-tokens:write': 'given',
  'people:read': 'never',
  'people:write': 'never',
  'policies:read': 'given',
  'policies:write': 'never',
  'push:read': 'never',
  'push:write': 'never',
  'receipts:read': 'given',
  'receipts:write': 'given',
  'refunds:read': 'never',
  'refunds:write': 'never',
  'risk:read': 'never',
  'risk:write': 'never',
  'runs:read': 'given',
  'runs:write': 'given',
  'sandbox:read': 'never',
  'sandbox:write': 'never',
  'sessions:read': 'never',
  'sessions:write': 'never',
  'statements:read': 'never',
  'statements:write': 'never',
  'tokens:read': 'given',
  'tokens:write': 'never',
  'transactions:read': 'given',
  'transactions:write': 'never',
  'transfers:confirm-payee': 'never',
  'transfers:create': 'asked',
  'transfers:read': 'given',
  'wallets:fund': 'never',
  'wallets:read': 'given',
  'wallets:write': 'never',
  'webhooks:read': 'never',
  'webhooks:write': 'never',
} as const satisfies Record<`${string}:${string}`, 'given' | 'asked' | 'never'>

export type Scope = keyof typeof rights

export const allScopeNames = keysOf(rights)

export const scopeSchema = z.enum(allScopeNames).meta({ id: 'Scope' })

const given = allScopeNames.filter(scope => rights[scope] === 'given')

export const tokenScopes = {
  given,
  possible: allScopeNames.filter(scope => rights[scope] !== 'never') as [Scope, ...Scope[]],
}

const reader = given.filter(scope => scope.endsWith(':read'))

/** Scopes by the purpose of a token: the caller need not know which operation needs which scope. */
export const tokenScopeSets = {
  reader,
  payer: [
    ...reader,
    'checkout:write',
    'credentials:write',
    'evidence:write',
    'intents:write',
    'mpp:pay',
    'outcomes:write',
    'payment-tokens:write',
    'receipts:write',
    'runs:write',
    'transfers:create',
  ],
} as const satisfies Record<string, readonly Scope[]>

export type TokenScopeSet = keyof typeof tokenScopeSets

export const tokenScopeSetNames = keysOf(tokenScopeSets)

export const expandScopes = (names: readonly (Scope | TokenScopeSet)[]): Scope[] => [
  ...new Set(
    names.flatMap(name => (name in tokenScopeSets ? tokenScopeSets[name as TokenScopeSet] : [name as Scope])),
  ),
]

/** An archive of personal data has everything about everyone: only owners may read it. */
const reads = allScopeNames.filter(scope => scope.endsWith(':read') && scope !== 'gdpr-archives:read')

/** All people manage their own channels, passkeys, sessions and devices; only owners manage those of others. */
const own = [...reads, 'channels:write', 'console:sign-out', 'passkeys:write', 'sessions:write'] as const

export const roleScopes: Readonly<Record<'owner' | 'approver' | 'viewer', ReadonlySet<Scope>>> = {
  owner: new Set(allScopeNames),
  approver: new Set([
    ...own,
    'canvas:apply',
    'canvas:write',
    'card-requests:approve',
    'intents:approve',
    'push:write',
    'transfers:confirm-payee',
  ]),
  viewer: new Set(own),
}

export type PersonRole = keyof typeof roleScopes

/** A role may be granted by those who have all of its scopes. */
export const mayGrantRole = (held: ReadonlySet<string>, role: PersonRole): boolean =>
  [...roleScopes[role]].every(scope => held.has(scope))

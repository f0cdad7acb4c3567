import { defineEntity, p } from '@mikro-orm/core'
import { machine } from '../../kernel/machine.ts'
import { maybe, record, tenantTable, timestamp, words } from '../../kernel/record.ts'
import type { Scope } from '../../kernel/scopes.ts'

/** Its code has been given out; its token has been taken; it is over. */
export const delegationMachine = machine('delegation', {
  issued: ['redeemed', 'revoked', 'expired'],
  redeemed: ['revoked', 'expired'],
  revoked: [],
  expired: [],
})

const schema = defineEntity({
  ...tenantTable('Delegation', 'delegations', 'agentId', 'id'),
  properties: {
    ...record('delegation'),
    agentId: p.text(),
    parentDelegationId: maybe.string(),
    /** Under whose caps it stands too: the first one is nobody's child. */
    ancestors: words(),
    label: maybe.string(),
    merchant: maybe.string(),
    maxAmountEuros: p.bigint().name('max_amount_cents'),
    scopes: p.array().columnType('text[]').$type<Scope[]>(),
    status: p.enum(delegationMachine.states).onCreate(() => delegationMachine.initial),
    codeHash: p.text(),
    hint: p.text(),
    codeExpiresAt: timestamp(),
    expiresAt: timestamp(),
    redeemedAt: maybe.instant(),
    tokenId: maybe.string(),
    revokedAt: maybe.instant(),
  },
})

export class Delegation extends schema.class {}
schema.setClass(Delegation)

/** In the words of the indexes over what is open. */
export const OPEN = "status in ('issued', 'redeemed')"

/** How far down caps can be handed on. */
export const DEEPEST = 8

/** Whether something can still be spent, or handed on, under it. */
export const isOpen = ({ status, expiresAt }: Delegation, now: Date): boolean =>
  !delegationMachine.isFinal(status) && expiresAt > now

const folded = (merchant: string): string => merchant.normalize('NFKC').trim().toLowerCase()

interface Wish {
  readonly agentId: string
  readonly maxAmountEuros: bigint
  readonly merchant: string | null
  readonly expiresAt: Date
}

/** In which way it would be wider than its parent, of whose cap so much is left; undefined where it is not. */
export function wider(wish: Wish, parent: Delegation, left: bigint) {
  if (wish.agentId !== parent.agentId) return 'parent_of_other_agent'
  if (wish.maxAmountEuros > left) return 'wider_amount'
  if (wish.expiresAt > parent.expiresAt) return 'wider_time'
  const isOther = parent.merchant && wish.merchant && folded(wish.merchant) !== folded(parent.merchant)
  return isOther ? 'wider_merchant' : undefined
}

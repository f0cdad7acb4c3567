import { defineEntity, p } from '@mikro-orm/core'
import { machine } from '../../kernel/contract/machine.ts'
import type { Scope } from '../../kernel/contract/scopes.ts'
import { maybe, record, tenantTable, timestamp, words } from '../../kernel/database/entity.ts'
import { minutes } from '../../values/clock.ts'
import { type Euros, formatEuros } from '../../values/money.ts'
import { isSameMerchant } from '../merchants/index.ts'

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

type Parent = Delegation & { readonly remainingEuros: Euros }

interface Wish {
  readonly agentId: string
  readonly maxAmountEuros: Euros
  readonly merchant: string | null
  readonly expiresAt: Date
}

/** Why it cannot be made below this one, never being wider; undefined where it can. */
export function obstacleTo(wish: Wish, parent: Parent, now: Date) {
  if (!isOpen(parent, now)) return 'parent_over'
  if (parent.ancestors.length >= DEEPEST) return 'parent_too_deep'
  if (wish.agentId !== parent.agentId) return 'parent_of_other_agent'
  if (wish.maxAmountEuros > parent.remainingEuros) return 'wider_amount'
  if (wish.expiresAt > parent.expiresAt) return 'wider_time'
  const isOther = parent.merchant && wish.merchant && !isSameMerchant(parent.merchant, wish.merchant)
  return isOther ? 'wider_merchant' : undefined
}

/** How far the parent goes, for who has asked for more. */
export const boundsOf = (
  { remainingEuros, expiresAt, merchant }: Parent,
  now: Date,
): Readonly<Record<string, string>> => ({
  wider_amount: `maxAmountEuros: the parent has ${formatEuros(remainingEuros)} left.`,
  wider_time: `expiresInMinutes: the parent lasts ${Math.floor((expiresAt.getTime() - now.getTime()) / minutes(1))} minutes more.`,
  wider_merchant: `merchant: the parent is good for ${merchant} only.`,
})

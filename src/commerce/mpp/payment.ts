import { defineEntity, p } from '@mikro-orm/core'
import type { z } from 'zod'
import { type Actor, callerOf, type Tenant, type TenantNow } from '../../kernel/contract/actor.ts'
import type { EmitContext } from '../../kernel/contract/context.ts'
import type { EntityManager } from '../../kernel/contract/entity-manager.ts'
import { stateMachine } from '../../kernel/contract/machine.ts'
import {
  nullable,
  realTimeColumn,
  recordColumns,
  tenantTable,
  withMembers,
} from '../../kernel/database/entity.ts'
import { personal, plain } from '../../kernel/database/personal.ts'
import type { Vault } from '../../ports/vault.ts'
import { addMs, clock, minutes } from '../../values/clock.ts'
import type { machinePaymentEndEvents, mppApi } from './api.ts'
import {
  awaitsPerson,
  credentialSenders,
  isUnshared,
  type MppCredential,
  type machinePaymentStatuses,
} from './credential.ts'
import type { MerchantRequest } from './merchant-request.ts'
import type { MachinePaymentProblem } from './offers.ts'
import { mppProcess } from './process.ts'
import type { NextStep } from './story.ts'

/**
 * `waiting`: for a person's approval of its intent, or for a merchant that is away, as its caller does not wait. `minted`:
 * its credential, which has the same id, says the rest. `ended`: nothing was minted or paid.
 */
export const machinePaymentMachine = stateMachine('mpp_payment', {
  ordering: ['waiting', 'minted', 'ended'],
  waiting: ['ordering', 'ended'],
  minted: [],
  ended: [],
})

/** Who asked. What they may not do any more, the payment may not either. */
export interface Asker
  extends Pick<
    Actor,
    'id' | 'firstId' | 'agentId' | 'delegationId' | 'budgetId' | 'onlyAt' | 'ownMandateId'
  > {
  readonly type: Actor['type']
  readonly address: string | null
}

const schema = defineEntity({
  ...tenantTable('MachinePayment', 'mpp_payments', 'agentId', 'delegationId'),
  properties: {
    ...recordColumns('mppcredential'),
    agentId: p.text(),
    delegationId: nullable.string(),
    intentId: p.text(),
    cardId: p.text(),
    status: p.enum(machinePaymentMachine.states).onCreate(() => machinePaymentMachine.initial),
    /** Asked for with `Prefer: respond-async`: its run carries it out, within the life of the intent. */
    isAsync: p.boolean(),
    sentBy: plain(p.enum(credentialSenders)),
    merchant: personal(p.text(), 'payment', 'payments', 'word'),
    /** Stored without the query, which may contain secrets. */
    url: personal(p.text(), 'payment', 'payments', 'word'),
    method: plain(p.text()),
    askedBy: personal(p.json<Asker>(), 'network', 'security', 'empty'),
    /** Sealed: what is sent to the merchant, until it is sent or the payment has ended. */
    request: personal(nullable.string(), 'payment', 'payments', 'null'),
    /** Sealed: the credential, from its minting until it is sent or shown. */
    credential: personal(nullable.string(), 'payment', 'payments', 'null'),
    /** Why it ended, or waits for the merchant. */
    reason: plain(nullable.string()),
    attempts: p.integer().onCreate(() => 0),
    /**
     * The lease of the process that orders it. Others keep away until `dueAt`, unless that process has died. One that waits
     * is taken up at `dueAt`, at the latest when its intent ends. One with a run that is minted and not sent is due as well.
     */
    claimedBy: plain(nullable.string()),
    dueAt: nullable.instant(),
    workflowId: nullable.string(),
  },
})

/** A machine payment from the request on, until its credential is sent. */
export class MachinePayment extends schema.class {}
schema.setClass(MachinePayment)

const answerSchema = defineEntity({
  ...tenantTable('MachinePaymentAnswer', 'mpp_answers', 'agentId', 'delegationId'),
  properties: {
    ...recordColumns('mppcredential'),
    agentId: p.text(),
    delegationId: nullable.string(),
    answer: personal(p.text(), 'payment', 'payments', 'word'),
    expiresAt: realTimeColumn(),
  },
})

/** What the caller of a machine payment gets, sealed: another process than the one that answers may have paid. */
export class MachinePaymentAnswer extends answerSchema.class {}
answerSchema.setClass(MachinePaymentAnswer)

/** Real time: an answer is not kept longer than it takes to ask for it again. */
export const ANSWER_KEPT_MS = minutes(10)

const contextOf = (what: 'request' | 'credential' | 'answer', id: string): string => `mpp-${what}:${id}`

export interface OrderedRequest {
  readonly request: MerchantRequest
  /** Given by a caller that sends the credential itself. */
  readonly challenge: string | null
}

export interface MintedHeader {
  readonly header: string
  readonly credential: string
}

export type PaidAnswer = z.output<(typeof mppApi.pay)['returns'][1]>

/** The caller's answer: what the merchant sells, or why nothing can be had. */
export type AnswerToCaller = MachinePaymentProblem | { readonly body: PaidAnswer }

export const sealRequest = (id: string, ordered: OrderedRequest, vault: Vault): string =>
  vault.seal(JSON.stringify(ordered), contextOf('request', id))

export const openRequest = ({ id, request }: MachinePayment, vault: Vault): OrderedRequest => {
  if (request === null) throw new Error(`${id}: its request is not kept any more`)
  return JSON.parse(vault.open(request, contextOf('request', id)))
}

export const sealMinted = (id: string, { header, credential }: MintedHeader, vault: Vault): string =>
  vault.seal(JSON.stringify({ header, credential }), contextOf('credential', id))

export const openMinted = (id: string, sealed: string, vault: Vault): MintedHeader =>
  JSON.parse(vault.open(sealed, contextOf('credential', id)))

export const openAnswer = ({ id, answer }: MachinePaymentAnswer, vault: Vault): AnswerToCaller =>
  JSON.parse(vault.open(answer, contextOf('answer', id)))

/** What was bought, for as long as it is kept. */
export function keptAnswer(kept: MachinePaymentAnswer | null, vault: Vault): PaidAnswer | null {
  if (!kept || kept.expiresAt <= clock.real()) return null
  const answer = openAnswer(kept, vault)
  return 'body' in answer ? answer.body : null
}

/** What was bought is for the key or token that has asked, alone. */
export const hasAskedFor = ({ askedBy }: MachinePayment, actor: Actor): boolean =>
  callerOf(askedBy) === callerOf(actor)

interface Answering {
  readonly em: Pick<EntityManager, 'create'>
  readonly systems: { readonly vault: Vault }
}

/** Keeps the answer for the caller, in place of an earlier one. */
export function keepAnswer(
  { id, agentId, delegationId }: Pick<MachinePayment, 'id' | 'agentId' | 'delegationId'>,
  answer: AnswerToCaller,
  { em, systems: { vault } }: Answering,
  earlier?: MachinePaymentAnswer | null,
): void {
  const kept = {
    answer: vault.seal(JSON.stringify(answer), contextOf('answer', id)),
    expiresAt: addMs(clock.real(), ANSWER_KEPT_MS),
  }
  if (earlier) Object.assign(earlier, kept)
  else em.create(MachinePaymentAnswer, { id, agentId, delegationId, ...kept })
}

export const machinePaymentEvent = ({ id, agentId, intentId, cardId, merchant }: MachinePayment) => ({
  paymentId: id,
  agentId,
  intentId,
  cardId,
  merchant,
})

/** The first pause before a merchant that is away is asked again; each further one is twice as long, up to the longest. */
const ASK_AGAIN_MS = minutes(0.5)
const LONGEST_PAUSE_MS = minutes(60)

/**
 * Waits until the merchant, which is away, is asked again, and no less than it asks for. False where the intent would have ended
 * by then.
 */
export function waitForMerchant(
  payment: MachinePayment,
  { code, retryAfterMs = 0 }: MachinePaymentProblem,
  { now, intentEndsAt }: Pick<TenantNow, 'now'> & { readonly intentEndsAt: Date },
): boolean {
  const pauseMs = Math.min(ASK_AGAIN_MS * 2 ** (payment.attempts - 1), LONGEST_PAUSE_MS)
  const dueAt = addMs(now, Math.max(pauseMs, retryAfterMs))
  if (dueAt >= intentEndsAt || !machinePaymentMachine.move(payment, 'waiting')) return false
  Object.assign(payment, { reason: code, dueAt, claimedBy: null })
  return true
}

/** The reason of a payment that was interrupted before anything was sent: a repetition of its request orders it anew. */
export const INTERRUPTED = 'interrupted'

/** Ends a payment before anything was minted. */
export function endUnordered(
  payment: MachinePayment,
  why: MachinePaymentProblem | typeof INTERRUPTED,
  context: EmitContext<typeof machinePaymentEndEvents> & Answering,
  reason: string = why === INTERRUPTED ? why : why.code,
): void {
  if (!machinePaymentMachine.move(payment, 'ended')) return
  Object.assign(payment, { reason, request: null, credential: null, dueAt: null })
  if (why !== INTERRUPTED) keepAnswer(payment, why, context)
  context.emit('mpp.payment.ended', { ...machinePaymentEvent(payment), reason })
  if (payment.workflowId !== null) context.wake(mppProcess, payment)
}

function machinePaymentStatusOf(
  { status }: Pick<MachinePayment, 'status'>,
  credential: MppCredential | null,
): (typeof machinePaymentStatuses)[number] {
  if (!credential) return status === 'minted' ? 'ordering' : status
  const { status: its } = credential
  if (its === 'consumed') return 'paid'
  if (its === 'void') return 'ended'
  if (its !== 'minted') return its
  if (awaitsPerson(credential)) return 'awaiting_person'
  // A caller sends what it has been shown.
  return isUnshared(credential) || credential.sentBy === 'service' ? 'ordering' : 'sent'
}

/** Nothing is done after its deadline, which ends it. */
export function nextStepOf(credential: MppCredential, context: Pick<TenantNow, 'now'>): NextStep {
  const { status, sentBy } = credential
  if (status === 'sent') return 'wait'
  if (status !== 'minted' || awaitsPerson(credential)) return 'none'
  if (isDue(credential, context)) return 'wait'
  if (isUnshared(credential)) return 'token'
  return sentBy === 'service' ? 'send' : 'none'
}

/** The asker as the caller of what is decided in their name. */
export const actorOf = ({ askedBy: { address: _, ...actor } }: MachinePayment, tenant: Tenant): Actor => ({
  ...actor,
  tenant,
  scopes: new Set(),
})

/** What it waited for may have come: its intent is approved or has ended, or the merchant may be there again. */
export const isWaitOver = (payment: MachinePayment, context: Pick<TenantNow, 'now'>): boolean =>
  payment.status === 'waiting' && isDue(payment, context)

interface Kept {
  readonly credential: MppCredential | null
  /** What was bought, while it is kept, and only for the key or token that has asked. */
  readonly answer: PaidAnswer | null
}

export const machinePaymentResponse = (payment: MachinePayment, { credential, answer }: Kept) =>
  withMembers(payment, {
    status: machinePaymentStatusOf(payment, credential),
    credentialId: credential?.id ?? null,
    dueAt: payment.status === 'waiting' ? payment.dueAt : null,
    answer,
  })

export const isDue = ({ dueAt }: { readonly dueAt: Date | null }, { now }: Pick<TenantNow, 'now'>): boolean =>
  dueAt !== null && dueAt <= now

export const byId = <T extends { readonly id: string }>(list: readonly T[]): ReadonlyMap<string, T> =>
  new Map(list.map(one => [one.id, one]))

import { approvalStepInWords, isStepAsked } from '../../values/approval-steps.ts'
import { addMs, minutes } from '../../values/clock.ts'
import { type CardStatusReference, checkWithoutLimit } from './decision.ts'
import type { PolicyRule } from './evaluation.ts'

const statusWords: Readonly<Record<string, string>> = { deleting: 'being deleted' }

export const agentStatusRule: PolicyRule = {
  name: 'agentStatus',
  compile:
    () =>
    ({ request: { agentStatus } }) => {
      return agentStatus === 'active'
        ? undefined
        : checkWithoutLimit(
            'agentStatus',
            'fail',
            `The agent is ${statusWords[agentStatus] ?? agentStatus}: it cannot spend.`,
          )
    },
  skipMessage: 'The agent is active.',
  remedy: 'Unfreeze the agent.',
}

/** Completes "no payment can be made with it". */
const cardWaits: Readonly<Record<Exclude<CardStatusReference['status'], 'active'>, (id: string) => string>> =
  {
    pending: () => 'until it is issued',
    inactive: id => `until it is activated (POST /cards/${id}/activate)`,
    frozen: id => `until it is unfrozen (POST /cards/${id}/unfreeze)`,
    closed: () => 'any more',
  }

export const unusableCardMessage = ({ id, status }: CardStatusReference): string | undefined =>
  status === 'active'
    ? undefined
    : `The card ${id} is ${status}: no payment can be made with it ${cardWaits[status](id)}.`

/**
 * Refuses nothing, since the card can become usable while the intent is open, and each payment with it is
 * judged again.
 */
export const cardStatusRule: PolicyRule = {
  name: 'cardStatus',
  compile:
    () =>
    ({ request: { namedCard } }) => {
      if (!namedCard) return undefined
      const problem = unusableCardMessage(namedCard)
      return problem === undefined
        ? checkWithoutLimit('cardStatus', 'pass', `The card ${namedCard.id} is active.`)
        : checkWithoutLimit('cardStatus', 'skip', problem)
    },
  skipMessage: 'The intent names no card.',
  remedy: 'Activate or unfreeze the card.',
}

/** Applies only to cards: every other spend is an intent or pays on one. */
export const requireIntentRule: PolicyRule = {
  name: 'requireIntent',
  compile: terms => {
    if (!terms?.requireIntent) return undefined
    return ({ request: { kind, intentId } }) => {
      if (kind !== 'card') return undefined
      return intentId
        ? checkWithoutLimit('requireIntent', 'pass', 'An approved intent covers this payment.')
        : checkWithoutLimit(
            'requireIntent',
            'fail',
            'This card needs an approved intent, and none covers this payment.',
          )
    }
  },
  skipMessage: 'No approved intent is required here.',
  remedy: 'Declare an intent for it and have it approved, or switch requireIntent off.',
}

export const duplicateRule: PolicyRule = {
  name: 'possibleDuplicate',
  compile:
    () =>
    ({ request: { possibleDuplicateOf: earlierIntent } }) => {
      return earlierIntent
        ? checkWithoutLimit(
            'possibleDuplicate',
            'review',
            `The intent looks like ${earlierIntent}: the same merchant and amount, minutes ago.`,
          )
        : undefined
    },
  skipMessage: 'There is no similar intent in the same run in the last ten minutes.',
  remedy: 'Have a person confirm the second payment.',
}

const riskOutcomes = { pass: 'pass', review: 'review', deny: 'fail', freeze: 'fail' } as const

export const riskRule: PolicyRule = {
  name: 'risk',
  compile: () => input => {
    if (!input.request.risk) return undefined
    const { score, parts, outcome } = input.request.risk
    const signals = parts.map(({ points, message }) => message.replace(/\.$/, ` (${points}).`))
    const message = [`The risk is ${score} of 100.`, ...signals].join(' ')
    return { ...checkWithoutLimit('risk', riskOutcomes[outcome], message), limit: 100, used: score }
  },
  skipMessage: 'Risk scoring is off.',
  remedy: 'Have a person review it, or change the risk thresholds.',
}

/**
 * The people whom the policy asks for an amount. It comes before mandates and the auto-approve limit, so neither replaces
 * them.
 */
export const approvalStepsRule: PolicyRule = {
  name: 'approval',
  compile: terms => {
    const steps = terms?.approval ?? []
    if (steps.length === 0) return undefined
    return ({ request: { amountCents, paymentCents, approval, intentId } }) => {
      const asked = steps.filter(step => isStepAsked(step, paymentCents ?? amountCents))
      if (asked.length === 0) return undefined
      const check = (outcome: 'pass' | 'fail' | 'review', message: string) =>
        checkWithoutLimit('approval', outcome, message)
      if (!approval)
        return intentId
          ? check('pass', 'The people whom the policy asks have approved the intent.')
          : check('review', `The policy asks for approvals ${asked.map(approvalStepInWords).join('; ')}.`)
      return approval.attestedAt
        ? check('pass', 'A passkey has approved the intent.')
        : check('fail', 'The policy asks people by steps: each of them approves with a passkey.')
    }
  },
  skipMessage: 'The policy asks no steps of approval for this amount.',
  remedy: 'Have the people whom the policy asks approve it, each with a passkey.',
}

/** The highest age of an attestation if the policy does not set one. */
export const DEFAULT_ATTESTATION_MINUTES = 5

export const attestationRule: PolicyRule = {
  name: 'requireAttestation',
  compile: terms => {
    if (!terms?.requireAttestation) return undefined
    const window = terms.attestationWindowMinutes ?? DEFAULT_ATTESTATION_MINUTES
    return ({ request: { at, approval, intentId } }) => {
      const check = (outcome: 'pass' | 'fail' | 'review', message: string) =>
        checkWithoutLimit('requireAttestation', outcome, message)
      if (!approval)
        return intentId
          ? check('pass', 'A passkey has approved the intent.')
          : check('review', 'The policy requires a passkey: a person approves every intent.')
      if (!approval.attestedAt)
        return check('fail', 'The agent’s policy requires an approval with a passkey.')
      return addMs(approval.attestedAt, minutes(window)) >= at
        ? check('pass', 'A passkey has approved the intent.')
        : check('fail', `The passkey’s approval is older than ${window} minutes.`)
    }
  },
  skipMessage: 'No passkey is required.',
  remedy: 'Approve the intent with a passkey.',
}

import { after, minutes } from '../../values/clock.ts'
import { plainCheck } from './decision.ts'
import type { Rule } from './evaluation.ts'

/** Statuses whose name alone makes no sentence. */
const statusWords: Readonly<Record<string, string>> = { deleting: 'being deleted' }

export const agentState: Rule = {
  name: 'agentStatus',
  compile:
    () =>
    ({ request: { agentStatus } }) => {
      return agentStatus === 'active'
        ? undefined
        : plainCheck(
            'agentStatus',
            'fail',
            `The agent is ${statusWords[agentStatus] ?? agentStatus}: it cannot spend.`,
          )
    },
  skipMessage: 'The agent is active.',
  remedy: 'Unfreeze the agent.',
}

/** Applies to cards alone: every other spend is an intent or pays on one. */
export const requireIntent: Rule = {
  name: 'requireIntent',
  compile: terms => {
    if (!terms?.requireIntent) return undefined
    return ({ request: { kind, intentId } }) => {
      if (kind !== 'card') return undefined
      return intentId
        ? plainCheck('requireIntent', 'pass', 'An approved intent covers this payment.')
        : plainCheck(
            'requireIntent',
            'fail',
            'A card pays only what an approved intent covers, and none does.',
          )
    }
  },
  skipMessage: 'No approved intent is asked for here.',
  remedy: 'Declare an intent for it and have it approved, or switch requireIntent off.',
}

export const duplicate: Rule = {
  name: 'possibleDuplicate',
  compile:
    () =>
    ({ request: { possibleDuplicateOf: earlierIntent } }) => {
      return earlierIntent
        ? plainCheck(
            'possibleDuplicate',
            'review',
            `It looks like ${earlierIntent}: the same merchant and amount, minutes ago.`,
          )
        : undefined
    },
  skipMessage: 'Nothing like it was asked for in the same run in the ten minutes before.',
  remedy: 'A person says that it is meant a second time.',
}

const riskOutcomes = { pass: 'pass', review: 'review', deny: 'fail', freeze: 'fail' } as const

export const risk: Rule = {
  name: 'risk',
  compile: () => input => {
    if (!input.request.risk) return undefined
    const { score, parts, outcome } = input.request.risk
    const signals = parts.map(({ points, message }) => message.replace(/\.$/, ` (${points}).`))
    const message = [`The risk is ${score} of 100.`, ...signals].join(' ')
    return { ...plainCheck('risk', riskOutcomes[outcome], message), limit: 100, used: score }
  },
  skipMessage: 'Nothing unusual was looked for.',
  remedy: 'A person looks at it, or the thresholds of risk are changed.',
}

/** How old an attestation may be if the policy does not say. */
export const DEFAULT_ATTESTATION_MINUTES = 5

export const attestation: Rule = {
  name: 'requireAttestation',
  compile: terms => {
    if (!terms?.requireAttestation) return undefined
    const window = terms.attestationWindowMinutes ?? DEFAULT_ATTESTATION_MINUTES
    return ({ request: { at, approval, intentId } }) => {
      const check = (outcome: 'pass' | 'fail' | 'review', message: string) =>
        plainCheck('requireAttestation', outcome, message)
      if (!approval)
        return intentId
          ? check('pass', 'A passkey has approved the intent.')
          : check('review', 'The policy asks for a passkey: a person approves every intent.')
      if (!approval.attestedAt)
        return check('fail', 'The agent’s policy asks for an approval with a passkey.')
      return after(approval.attestedAt, minutes(window)) >= at
        ? check('pass', 'A passkey has approved it.')
        : check('fail', `The passkey’s approval is older than ${window} minutes.`)
    }
  },
  skipMessage: 'No passkey is asked for.',
  remedy: 'Approve it with a passkey.',
}

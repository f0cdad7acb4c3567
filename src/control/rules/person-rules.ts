import { after, minutes } from '../../values/clock.ts'
import type { Rule } from './evaluation.ts'
import { says } from './decision.ts'

/** How a person says it. */
const states: Readonly<Record<string, string>> = { deleting: 'being deleted' }

export const agentState: Rule = {
  name: 'agentStatus',
  judge: () => question => {
    const { agentStatus } = question.request
    return agentStatus === 'active'
      ? undefined
      : says('agentStatus', 'fail', `The agent is ${states[agentStatus] ?? agentStatus}: it cannot spend.`)
  },
  silent: 'The agent is active.',
  remedy: 'Unfreeze the agent.',
}

/** Of cards alone: who declares an intent, or pays on one, has it. */
export const requireIntent: Rule = {
  name: 'requireIntent',
  judge: terms => {
    if (!terms?.requireIntent) return undefined
    return ({ request: { kind, intentId } }) => {
      if (kind !== 'card') return undefined
      return intentId
        ? says('requireIntent', 'pass', 'An approved intent covers this payment.')
        : says('requireIntent', 'fail', 'A card pays only what an approved intent covers, and none does.')
    }
  },
  silent: 'No approved intent is asked for here.',
  remedy: 'Declare an intent for it and have it approved, or switch requireIntent off.',
}

export const duplicate: Rule = {
  name: 'possibleDuplicate',
  judge: () => question => {
    const { possibleDuplicateOf: other } = question.request
    return other
      ? says(
          'possibleDuplicate',
          'review',
          `It looks like ${other}: the same merchant and amount, minutes ago.`,
        )
      : undefined
  },
  silent: 'Nothing like it was asked for in the same run in the ten minutes before.',
  remedy: 'A person says that it is meant a second time.',
}

const riskOutcomes = { pass: 'pass', review: 'review', deny: 'fail', freeze: 'fail' } as const

export const risk: Rule = {
  name: 'risk',
  judge: () => question => {
    const { risk: found } = question.request
    if (!found) return undefined
    const parts = found.parts.map(({ points, message }) => message.replace(/\.$/, ` (${points}).`))
    const message = [`The risk is ${found.score} of 100.`, ...parts].join(' ')
    return { ...says('risk', riskOutcomes[found.outcome], message), limit: 100, used: found.score }
  },
  silent: 'Nothing unusual was looked for.',
  remedy: 'A person looks at it, or the thresholds of risk are changed.',
}

/** Minutes, where the policy does not say how long. */
export const ATTESTATION_WINDOW = 5

export const attestation: Rule = {
  name: 'requireAttestation',
  judge: terms => {
    if (!terms?.requireAttestation) return undefined
    const window = terms.attestationWindowMinutes ?? ATTESTATION_WINDOW
    return ({ request: { at, approval, intentId } }) => {
      const check = (outcome: 'pass' | 'fail' | 'review', message: string) =>
        says('requireAttestation', outcome, message)
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
  silent: 'No passkey is asked for.',
  remedy: 'Approve it with a passkey.',
}

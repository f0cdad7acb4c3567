import { formatEuros } from '../../../values/money.ts'
import type { Facts } from './collect-facts.ts'
import type { Block, Section } from './input.ts'
import { facts, timeInWords } from './sections.ts'

const deciders = {
  policy: 'the policy, by itself',
  key: 'an API key of the owner',
  console: 'a person in the console',
  operator: 'an operator',
  mandate: 'a mandate that a person has signed',
} as const

/** What the agent wanted to spend, before it was paid; nothing where no intent covered the payment. */
export function intentSection({ intent, proof }: Facts): Section[] {
  if (!intent) return []
  const { decidedBy } = intent
  const blocks: Block[] = [
    facts([
      ['Purpose', intent.purpose],
      ['Merchant', intent.merchant],
      ['Amount', formatEuros(intent.amountEuros)],
      ['Declared', timeInWords(intent.createdAt)],
      ['Agent', intent.agentId],
      ['Run', intent.runId],
      ['Intent', intent.id],
      ['Approved', intent.decidedAt && timeInWords(intent.decidedAt)],
      [
        'Approved by',
        decidedBy && `${deciders[decidedBy.type]}${decidedBy.name ? `: ${decidedBy.name}` : ''}`,
      ],
      ['Comment', intent.comment],
    ]),
  ]
  if (proof !== null)
    blocks.push(
      {
        kind: 'text',
        text: 'The proof that a person approved it with a passkey. Anybody can check it with the keys under /.well-known/jwks.json: it falls with one digit of the amount changed.',
      },
      { kind: 'text', text: proof, isSmall: true },
    )
  return [{ title: 'What was to be paid, and why', blocks }]
}

/** The decision about the intent, else about the payment itself, with what every rule said. */
export function decisionSection({ intent, payment }: Facts): Section[] {
  const decision = intent?.decision ?? payment?.decision
  if (!decision) return []
  const outcome = decision.allowed ? 'allowed' : 'refused'
  return [
    {
      title: 'The decision',
      blocks: [
        facts([
          ['Outcome', decision.requiresApproval ? `${outcome}, once approved` : outcome],
          ['Reason', decision.reason],
          ['Policy', decision.policyId && `${decision.policyId}, version ${decision.policyVersion ?? ''}`],
          ['Decision', decision.id],
        ]),
        {
          kind: 'table',
          columns: [
            { name: 'Rule', share: 0.27 },
            { name: 'Outcome', share: 0.12 },
            { name: 'What it said', share: 0.61 },
          ],
          rows: decision.checks.map(({ rule, outcome, message }) => [rule, outcome, message ?? '']),
        },
      ],
    },
  ]
}

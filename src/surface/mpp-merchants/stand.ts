import { type Article, challengeFor, type PayContext, type Payee } from '../../commerce/collect/index.ts'
import { offeringKey } from '../../commerce/mpp-keys/index.ts'
import { PLATFORM_OWNER } from '../../identity/customers/index.ts'
import type { File } from '../../kernel/contract/file.ts'
import { writeChallenge } from '../../mpp/index.ts'
import { clock } from '../../values/clock.ts'
import { euros } from '../../values/money.ts'
import { type Scenario, scenarioOf } from './scenarios.ts'

/** The merchants' keys and settlements are the installation's own; their money is nobody's, and stands in no ledger. */
const tenant = { ownerId: PLATFORM_OWNER, mode: 'test' } as const

/** The price where none is named, in cents. */
const USUAL = 250n

export const json = (value: object): File => ({ type: 'application/json', content: JSON.stringify(value) })

/** The good merchant, of which all others change something. */
export const payee: Payee<File> = {
  async find({ scenario = '', amountEuros }, context) {
    if (!scenarioOf(scenario)) return undefined
    const now = clock.real()
    context.actFor(tenant, now)
    const { networks } = context.ports.acquirer('test')
    const subject = { requestId: null, walletId: null, agentId: null, scenario }
    const key = await offeringKey(tenant, context)
    const members = { tenant, offsetMs: 0, now, key, subject, networks, expiresAt: null, ended: null }
    return {
      ...members,
      externalId: scenario,
      amountEuros: amountEuros === undefined ? USUAL : BigInt(Math.round(Number(amountEuros) * 100)),
      description: `The scenario ${scenario} of the sandbox`,
      merchantName: 'Sandbox merchant',
    }
  },

  unlocked: async ({ id, scenario, amountEuros }) =>
    json({
      scenario,
      settlementId: id,
      amountEuros: euros.encode(amountEuros),
      content: 'What you have paid for.',
    }),
}

const MANY = 10_000
const TINY = 'Payment id="a", realm="r", method="tempo", intent="charge", request="e30"'

/** The value of `WWW-Authenticate` with which a merchant asks for money; undefined where it names no challenge. */
export function offerOf(
  article: Article,
  { asks }: Scenario,
  { host, rawBody: body }: PayContext,
): string | undefined {
  if (asks === 'nothing') return undefined
  if (asks === 'thousands') return Array.from({ length: MANY }, () => TINY).join(', ')
  if (asks === 'other_methods') return `Bearer realm="sandbox", ${TINY}`
  const changed = typeof asks === 'function' ? asks(article) : {}
  return writeChallenge(challengeFor(article, { host, body }, changed))
}

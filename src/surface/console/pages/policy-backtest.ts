import { policySimulationApi } from '../../../control/policies/index.ts'
import { days } from '../../../values/clock.ts'
import { type Html, html } from '../../../web/html.ts'
import type { PageRequest } from '../page.ts'
import { recordLink } from '../parts/links.ts'
import { box, table } from '../parts/table.ts'
import { euros, label, text, time } from '../parts/text.ts'

const DAYS = 30

/** What would have been decided otherwise in the last thirty days, had agents been under this policy. */
export const backtestPart = async (
  request: PageRequest,
): Promise<Html> => html`<form data-part="backtest"><input type="hidden" name="backtest" value="run"><button type="submit">Replay the last ${DAYS} days</button></form>
${await request.part({ id: 'backtest', events: [], make: () => (request.query.backtest === 'run' ? replay(request) : html``) })}`

interface Sum {
  readonly count: number
  readonly amountEuros: number
}

const sum = ({ count, amountEuros }: Sum): Html => html`${count} · ${euros(amountEuros)}`

async function replay(request: PageRequest): Promise<Html> {
  const { ask, id, now } = request
  const body = { from: new Date(now.getTime() - days(DAYS)).toISOString(), to: now.toISOString() }
  const result = await ask(policySimulationApi.backtest, { params: { id }, body })
  const kinds = [
    ['The same', result.same],
    ['Denied now', result.newlyDenied],
    ['Allowed now', result.newlyAllowed],
    ['Left to a person now', result.newlyToPerson],
    ['Decided by a person then', result.decidedBefore],
  ] as const
  return box(
    `The last ${DAYS} days under this policy`,
    table(
      [
        { name: 'Decisions', of: ([kind]) => kind },
        { name: 'Number and amount', of: ([, figures]) => sum(figures), isFigure: true },
      ],
      kinds,
      request,
      'Decisions replayed',
    ),
    result.byRule.length > 0 &&
      table(
        [
          { name: 'By the rule', of: ({ rule }) => label(rule) },
          { name: 'Denied', of: ({ newlyDenied }) => sum(newlyDenied), isFigure: true },
          { name: 'Allowed', of: ({ newlyAllowed }) => sum(newlyAllowed), isFigure: true },
          { name: 'To a person', of: ({ newlyToPerson }) => sum(newlyToPerson), isFigure: true },
        ],
        result.byRule,
        request,
        'Differences by rule',
      ),
    result.examples.length > 0 &&
      table(
        [
          { name: 'At', of: ({ at }) => time(at) },
          {
            name: 'What',
            of: ({ subjectId, merchant }) => recordLink(request, subjectId, text(merchant, 60)),
          },
          { name: 'Amount', of: ({ amountEuros }) => euros(amountEuros), isFigure: true },
          { name: 'Was', of: ({ was }) => was },
          { name: 'Would be', of: ({ now: would, reason }) => html`${would}: ${text(reason, 200)}` },
        ],
        result.examples.slice(0, 20),
        request,
        'Examples of differences',
      ),
  )
}

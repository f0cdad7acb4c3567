import { policySimulationApi } from '../../../control/policies/index.ts'
import { days } from '../../../values/clock.ts'
import { type Html, html } from '../../../web/html.ts'
import type { PageRequest } from '../page.ts'
import { recordLink } from '../parts/links.ts'
import { box, table } from '../parts/table.ts'
import { euros, label, text } from '../parts/text.ts'

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
    table(request, 'Decisions replayed', kinds, {
      Decisions: ([kind]) => kind,
      'Number and amount': { figure: ([, figures]) => sum(figures) },
    }),
    result.byRule.length > 0 &&
      table(request, 'Differences by rule', result.byRule, {
        'By the rule': ({ rule }) => label(rule),
        Denied: { figure: ({ newlyDenied }) => sum(newlyDenied) },
        Allowed: { figure: ({ newlyAllowed }) => sum(newlyAllowed) },
        'To a person': { figure: ({ newlyToPerson }) => sum(newlyToPerson) },
      }),
    result.examples.length > 0 &&
      table(request, 'Examples of differences', result.examples.slice(0, 20), {
        At: 'at',
        What: ({ subjectId, merchant }) => recordLink(request, subjectId, text(merchant, 60)),
        Amount: 'amountEuros',
        Was: 'was',
        'Would be': ({ now: would, reason }) => html`${would}: ${text(reason, 200)}`,
      }),
  )
}

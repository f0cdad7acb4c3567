import { clock } from '../../../../values/clock.ts'
import { formatMinute } from '../../../../values/minute.ts'
import { html } from '../../../../web/html.ts'
import { sandboxApi } from '../../../sandbox/index.ts'
import type { ConsoleSection, PageRequest, RenderedPage } from '../../page.ts'
import { renderOperationForm } from '../../parts/form.ts'
import { copyableText } from '../../parts/links.ts'
import { renderBox, renderFacts } from '../../parts/table.ts'
import { renderTime } from '../../parts/text.ts'

const CLOCK_SLACK_MS = 1_500

/** The time of the test clock, if it was advanced. */
export const advancedClock = ({ now }: Pick<PageRequest, 'now'>): string | undefined =>
  now.getTime() - clock.milliseconds() > CLOCK_SLACK_MS ? formatMinute(now) : undefined

async function clockPage(request: PageRequest): Promise<RenderedPage> {
  const { now, to, tenant } = request
  const title = 'Test clock'
  if (tenant.mode === 'live')
    return { title, content: html`<h1>${title}</h1><p class="empty">Live mode follows real time.</p>` }
  const ahead = advancedClock(request)
  const forms = (['minutes', 'days'] as const).map(unit =>
    renderOperationForm(request, sandboxApi.advance, {
      params: {},
      members: [unit],
      labels: { [unit]: `Advance by ${unit}` },
      submit: 'Advance',
      success: 'Test clock advanced.',
    }),
  )
  return {
    title,
    content: html`<h1>${title}</h1>
<p class="lead">Advance the time of your test records. Everything that falls due on the way happens in order. The clock cannot be moved back.</p>
${renderBox(
  'Time',
  renderFacts([
    ['Test time', renderTime(now)],
    ['Real time', renderTime(clock.real())],
  ]),
  html`<p>${ahead === undefined ? 'The test clock shows real time.' : `The test clock is ahead: ${ahead}.`}</p>
<p class="record"><a href="${to('simulate/clock')}">JSON</a> ${copyableText('agentpay sandbox clock')}</p>
<div class="actions">${forms}</div>`,
)}`,
  }
}

export const clockSection: ConsoleSection = {
  title: 'Test clock',
  needs: sandboxApi.clock,
  mode: 'test',
  list: clockPage,
}

import axe from 'axe-core'
import type { Page } from 'playwright-core'

/** What axe finds on a page, by all its rules, best practices too: one line for each element that breaks one. */
export async function axeFindings(page: Page): Promise<string[]> {
  await page.evaluate(axe.source)
  const violations = await page.evaluate(async () => {
    const { violations } = await (window as unknown as { axe: typeof axe }).axe.run()
    return violations.map(({ id, help, nodes }) => ({ id, help, targets: nodes.map(({ html }) => html) }))
  })
  return violations.flatMap(({ id, help, targets }) => targets.map(target => `${id}: ${help}: ${target}`))
}

import axe from 'axe-core'
import type { Page } from 'playwright-core'

const FINDINGS = `axe.run().then(({ violations }) =>
  violations.flatMap(({ id, help, nodes }) => nodes.map(({ html }) => [id, help, html].join(': '))))`

/** What axe finds on a page by all its rules, best practices included: one line per violation. */
export async function axeFindings(page: Page): Promise<string[]> {
  await page.evaluate(axe.source)
  return (await page.evaluate(FINDINGS)) as string[]
}

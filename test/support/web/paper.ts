import type { Page } from 'playwright-core'

const FIXED = `[...document.querySelectorAll('body *')]
  .filter(one => getComputedStyle(one).position === 'fixed' && one.checkVisibility()).map(({ className }) => className)`

/** Elements at a fixed position, which would cover the text of every printed page. */
export async function fixedOnPaper(page: Page): Promise<string[]> {
  await page.emulateMedia({ media: 'print' })
  const found = (await page.evaluate(FIXED)) as string[]
  await page.emulateMedia({ media: 'screen' })
  return found
}

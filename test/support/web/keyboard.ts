import type { Page } from 'playwright-core'

interface Focused {
  readonly name: string
  /** Whether a user sees where the focus is. */
  readonly isVisible: boolean
}

const FOCUSED = `(() => {
  const element = document.activeElement
  const { outlineStyle, outlineWidth } = getComputedStyle(element)
  const label = element.labels?.[0]?.textContent
  return {
    name: (label ?? element.textContent).replace(/\\s+/g, ' ').trim(),
    isVisible: outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2,
  }
})()`

/** More steps than any page needs. */
const MOST_STEPS = 30

/** Presses Tab until the element of this name has the focus, which must be visible. */
export async function tabTo(page: Page, name: string): Promise<void> {
  const seen: string[] = []
  while (seen.length < MOST_STEPS) {
    await page.keyboard.press('Tab')
    const focused = (await page.evaluate(FOCUSED)) as Focused
    seen.push(focused.name)
    if (focused.name !== name) continue
    if (!focused.isVisible) throw new Error(`the focus on ${name} is not visible`)
    return
  }
  throw new Error(`the keyboard reaches ${seen.join(', ')}, and not ${name}`)
}

/** Activates the element of this name, using only the keyboard. */
export async function pressByKeyboard(page: Page, name: string): Promise<void> {
  await tabTo(page, name)
  await page.keyboard.press('Enter')
}

import type { Locator, Page } from 'playwright-core'

/** A person who does not reach the field with a few Tabs clicks it. */
const MOST_TABS = 3

/** Counts what a person presses: clicks and taps, a chosen file, and two for a choice from a list. */
export interface Presses {
  readonly count: number
  press(target: Locator): Promise<void>
  /** Chooses a file: one press opens the dialog of the system, and the file is chosen there. */
  chooseFile(field: Locator, path: string): Promise<void>
  /** Types. That is no press if a few Tabs lead from the focus to the field. */
  type(field: Locator, text: string): Promise<void>
}

export function countPresses(page: Page, isPhone = false): Presses {
  let count = 0
  const presses: Presses = {
    get count() {
      return count
    },
    async press(target) {
      count++
      await (isPhone ? target.tap() : target.click())
    },
    async chooseFile(field, path) {
      count++
      await field.setInputFiles(path)
    },
    async type(field, text) {
      await field.waitFor()
      const hasFocus = () => field.evaluate('one => one === document.activeElement') as Promise<boolean>
      for (let n = 0; n < MOST_TABS && !(await hasFocus()); n++) await page.keyboard.press('Tab')
      if (!(await hasFocus())) await presses.press(field)
      await page.keyboard.press('ControlOrMeta+A')
      await page.keyboard.type(text)
    },
  }
  return presses
}

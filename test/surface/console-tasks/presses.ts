import type { Locator, Page } from 'playwright-core'

/** More steps of the Tab key than any task needs. */
const MOST_TABS = 12

/** Counts what a person presses: clicks and taps, a chosen file, and two for a choice from a list. */
export interface Presses {
  readonly count: number
  press(target: Locator): Promise<void>
  /** Chooses a file: one press opens the dialog of the system, and the file is chosen there. */
  chooseFile(field: Locator, path: string): Promise<void>
  /** Types without a press. The Tab key must lead from the focus to the field. */
  type(field: Locator, text: string): Promise<void>
}

export function countPresses(page: Page, isPhone = false): Presses {
  let count = 0
  return {
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
      if (!(await hasFocus())) throw new Error('The Tab key does not lead to the field.')
      await page.keyboard.press('ControlOrMeta+A')
      await page.keyboard.type(text)
    },
  }
}

import type { Navigation } from './navigation.ts'
import type { Section } from './page.ts'
import { account, accountDetails, allowances, happenings } from './pages/account/sections.ts'
import { control, controlDetails } from './pages/control-sections.ts'
import { decide, decideDetails } from './pages/decide/sections.ts'
import { insight } from './pages/insight/sections.ts'
import { money, moneyBeside } from './pages/money/money-sections.ts'

/** The navigation: its groups, and the sections of each in their order. */
export const navigation: Navigation = [
  ['Decide', decide],
  ['Control', control],
  ['Allowed in advance', allowances],
  ['Money', money],
  ['Insight', insight],
  ['What happened', happenings],
  ['Account', account],
]

/** Every section by its name in addresses; the details are those that nobody navigates to. */
export const sections: Readonly<Record<string, Section>> = {
  ...decide,
  ...decideDetails,
  ...control,
  ...controlDetails,
  ...allowances,
  ...money,
  ...moneyBeside,
  ...insight,
  ...happenings,
  ...account,
  ...accountDetails,
}

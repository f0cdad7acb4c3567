import type { RecurringActivities } from '../activities/recurring.ts'
import { activities, round } from './shared/activities.ts'

const {
  fetchRates,
  findReturnedFundings,
  findReturnedPayments,
  removeOldDeliveries,
  eraseUnusedFiles,
  removeEarlierRuns,
} = activities<RecurringActivities>({
  fetchRates: round('Fetch the exchange rates, unless those of today are there'),
  findReturnedFundings: round('List what the banks of payers took back at Stripe, and book what is missing'),
  findReturnedPayments: round('List what Stripe returned of received payments, and book what is missing'),
  removeOldDeliveries: round('Remove deliveries that are older than 30 days'),
  eraseUnusedFiles: round('Erase the files that no record uses'),
  removeEarlierRuns: round('Remove earlier runs of this schedule, except those of a day'),
})

// Each is begun by the schedule of its name, one at a time: see `src/app/schedules.ts`.

export async function exchangeRates(): Promise<void> {
  await fetchRates()
  await removeEarlierRuns()
}

/** The second witness of what comes back, beside Stripe's notices. A list that fails holds up no other. */
export async function returns(): Promise<void> {
  const lists = await Promise.allSettled([findReturnedFundings(), findReturnedPayments()])
  for (const list of lists) if (list.status === 'rejected') throw list.reason
  await removeEarlierRuns()
}

export async function oldDeliveries(): Promise<void> {
  await removeOldDeliveries()
  await removeEarlierRuns()
}

export async function unusedFiles(): Promise<void> {
  await eraseUnusedFiles()
  await removeEarlierRuns()
}

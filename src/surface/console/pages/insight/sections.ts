import { costsApi, merchantsApi } from '../../../../insight/analytics/index.ts'
import { forecastApi } from '../../../../insight/forecast/index.ts'
import { outcomesApi } from '../../../../insight/outcomes/index.ts'
import type { Section } from '../../page.ts'
import { costsPage } from './costs.ts'
import { forecastPage } from './forecast.ts'
import { merchantsPage } from './merchants.ts'
import { outcomesPage } from './outcomes.ts'

/** What it did cost, whether it was worth it, and what it will cost. */
export const insight: Readonly<Record<string, Section>> = {
  costs: { title: 'Costs', needs: costsApi.costs, list: costsPage },
  merchants: { title: 'Merchants', needs: merchantsApi.merchants, list: merchantsPage },
  outcomes: {
    title: 'Outcomes',
    needs: outcomesApi.summary,
    list: outcomesPage,
    table: outcomesApi.list,
  },
  forecast: { title: 'Forecast', needs: forecastApi.ofOwner, list: forecastPage },
}

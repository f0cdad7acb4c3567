import './refunds/fits-payment.ts'
import './refunds/between-wallets.ts'
import './refunds/of-cards.ts'
import './refunds/of-others.ts'

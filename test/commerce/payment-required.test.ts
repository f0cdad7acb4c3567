import './payment-required/settled.ts'

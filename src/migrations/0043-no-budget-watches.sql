-- Area: insight. The forecast says when a budget is used up, for who asks.
drop table budget_watches;
